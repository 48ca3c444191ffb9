"""Many trees as one schedule: nodes sorted by height, equal subtrees merged, one level a slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough.trees.sharing import Flat, Words, flatten, joined, merged
from bough.trees.tree import Tree
from bough.trees.wellformed import Ints

CHUNK = 128  # rows of a level handled at once: large enough for a matmul, small enough to stay in cache


class Forest:
    """Trees, in the order given, scheduled for the layers of `bough.nn`.

    Nodes are counted through: tree 0's nodes first, then tree 1's, and so on. What is computed are *units*:
    without `keys` each node is its own unit; with `keys`, one list of ints a tree, an equal key promises an
    equal input, and equal subtrees become one unit. Units are sorted by height, so a level is a slice.

    `relations` maps the trees' relation names to ids, for `SDTRNN`; trees whose relations are ints need none.
    `digests` are what `bough.trees.sharing.prepared(trees, keys)` gave, to save time where trees come again and again;
    where relations tell trees apart they do not help.

    Shape:
        size N nodes, units U <= N, edges E: `roots` (trees,), `unit_of` (N,), `node_of` (U,),
        `inputs` (M,) one node for each distinct input, `input_of` (U,), `children` (E,), `edge_parents` (E,)
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        keys: Sequence[Sequence[int] | Ints] | None = None,
        *,
        relations: Mapping[Any, int] | None = None,
        digests: Sequence[Words] | None = None,
    ) -> None:
        self.trees = tuple(trees)
        self.device = torch.device("cpu")
        self._vocabulary = relations
        flat = flatten(self.trees)
        self._starts = flat.starts
        self.size = int(self._starts[-1])
        self.keys = None if keys is None else _joined_keys(keys, np.diff(self._starts))
        self._schedule(flat, np.concatenate(digests) if digests else None)

    def __len__(self) -> int:
        return len(self.trees)

    def __repr__(self) -> str:
        parts = f"{len(self)} trees, {self.size} nodes, {self.units} computed"
        return f"Forest({parts}, {len(self.level_sizes)} levels)"

    @torch.inference_mode(False)
    def to(self, device: torch.device | str) -> Forest:
        """The same forest with its index tensors on another device."""
        if torch.device(device) == self.device:
            return self
        moved = self._copied()
        for name, value in self.__dict__.items():
            if isinstance(value, Tensor) and name in moved.__dict__:
                setattr(moved, name, value.to(device))
        moved.device = moved.roots.device  # "cuda" is asked for, "cuda:0" is where x says it is
        return moved

    # ----------------------------------------------------------------- schedule

    @torch.inference_mode(False)  # a forest outlives the mode it is built or first used in
    def _schedule(self, flat: Flat, words: Words | None) -> None:
        _, heights, degrees, first, below = flat
        roots = flat.starts[:-1] + np.array([tree.root for tree in self.trees], dtype=np.int64)
        related = self._relation_ids()
        order = np.argsort(heights.astype(np.int32), kind="stable")
        if self.keys is None:
            node_of, unit_of = order, np.empty_like(order)
            unit_of[order] = np.arange(self.size)
        else:
            node_of, unit_of = merged(flat, order, self.keys, related, words)

        self._degrees = degrees[node_of]
        ends = np.cumsum(self._degrees)
        edges = np.arange(ends[-1] if len(ends) else 0)
        edges += np.repeat(first[node_of] - (ends - self._degrees), self._degrees)
        self.edge_nodes = below[edges]  # the node at the lower end of each edge, edges sorted by parent unit

        self.units = len(node_of)
        counts = np.bincount(heights[node_of]).tolist() if self.units else []
        self.leaves = counts[0] if counts else 0
        self.level_sizes = _chunked(counts)
        self.slices = tuple(pairwise(np.cumsum([0, *self.level_sizes]).tolist()))
        bounds = np.concatenate([[0], ends])
        self.edge_sizes = [int(bounds[end] - bounds[start]) for start, end in self.slices]
        self.edge_slices = [slice(int(bounds[start]), int(bounds[end])) for start, end in self.slices]

        self.roots = torch.from_numpy(roots)
        self.unit_of = torch.from_numpy(unit_of)
        self.node_of, self._nodes = torch.from_numpy(node_of), node_of
        self.children = torch.from_numpy(unit_of[self.edge_nodes])
        self.edge_relations = None if related is None else torch.from_numpy(related[self.edge_nodes])
        self.own_inputs = self.keys is None  # whether every unit has an input to itself, in the units' order

    @cached_property
    @torch.inference_mode(False)
    def edge_parents(self) -> Tensor:
        """(E,) the unit at the upper end of each edge."""
        return torch.from_numpy(np.repeat(np.arange(self.units), self._degrees)).to(self.device)

    @cached_property
    @torch.inference_mode(False)
    def edge_rows(self) -> Tensor:
        """(E,) the same, counted within the unit's level."""
        starts = np.array([start for start, _ in self.slices], dtype=np.int64)
        return self.edge_parents - torch.from_numpy(np.repeat(starts, self.edge_sizes)).to(self.device)

    @cached_property
    @torch.inference_mode(False)
    def _inputs(self) -> tuple[Tensor, Tensor]:
        if self.own_inputs:
            return self.node_of, torch.arange(self.units, device=self.device)
        assert self.keys is not None
        nodes = self._nodes
        _, some, which = np.unique(self.keys[nodes], return_index=True, return_inverse=True)
        return torch.from_numpy(nodes[some]).to(self.device), torch.from_numpy(which).to(self.device)

    @property
    def inputs(self) -> Tensor:
        """(M,) one node for each distinct input."""
        return self._inputs[0]

    @property
    def input_of(self) -> Tensor:
        """(U,) each unit's place among `inputs`."""
        return self._inputs[1]

    def _relation_ids(self) -> Ints | None:
        """(N,) the id of each node's relation to its parent, -1 for none; None if no tree has relations."""
        if not self.trees or any(tree.relations is None for tree in self.trees):
            return None
        names = [name for tree in self.trees for name in tree.relations or ()]
        if self._vocabulary is not None:
            unknown = next(
                (name for name in names if name is not None and name not in self._vocabulary), None
            )
            if unknown is not None:
                raise ValueError(
                    f"relation {unknown!r} is not among the {len(self._vocabulary)} in `relations`"
                )
            return np.array(
                [-1 if name is None else self._vocabulary[name] for name in names], dtype=np.int64
            )
        if all(name is None or isinstance(name, int | np.integer) for name in names):
            return np.array([-1 if name is None else name for name in names], dtype=np.int64)
        return None

    @cached_property
    @torch.inference_mode(False)
    def subtree_sizes(self) -> Tensor:
        """(U,) nodes in each unit's subtree, itself included."""
        sizes = np.ones(self.units, dtype=np.int64)
        children, parents = self.children.cpu().numpy(), self.edge_parents.cpu().numpy()
        for edges in self.edge_slices:
            np.add.at(sizes, parents[edges], sizes[children[edges]])
        return torch.from_numpy(sizes).to(self.device)

    @torch.inference_mode(False)
    def slots(self, arity: int) -> Tensor:
        """(U - leaves, arity) the child units of every inner unit; `units`, one past the last, for none."""
        cache: dict[int, Tensor] = self.__dict__.setdefault("_slots", {})
        if arity not in cache:
            inner = self._degrees[self.leaves :]
            if len(inner) and inner.max() > arity:
                node = int(self.node_of[self.leaves + int(inner.argmax())])
                raise ValueError(
                    f"{self.place(node)} has {inner.max()} children; the layer's arity is {arity}"
                )
            if (inner == arity).all():
                table = self.children.view(-1, arity)
            else:
                table = torch.full((len(inner), arity), self.units, device=self.device)
                ends = np.cumsum(inner)
                column = np.arange(len(self.edge_nodes)) - np.repeat(ends - inner, inner)
                table[self.edge_parents - self.leaves, torch.from_numpy(column).to(self.device)] = (
                    self.children
                )
            cache[arity] = table
        return cache[arity]

    def place(self, node: int) -> str:
        """Where a counted-through node stands, for error messages."""
        tree = int(np.searchsorted(self._starts, node, side="right")) - 1
        return f"node {node - int(self._starts[tree])} of tree {tree}"

    # ------------------------------------------------------------- other forests

    @cached_property
    def unshared(self) -> Forest:
        """The same trees with every node its own unit, for dropout inside the recursion."""
        if self.keys is None:
            return self
        return Forest(self.trees, relations=self._vocabulary).to(self.device)

    @cached_property
    def reversed(self) -> Forest:
        """Chains read from the last word to the first; any other tree is a ValueError."""
        return Forest(self._reversed_trees(), self._key_lists()).to(self.device)

    @cached_property
    def both_ways(self) -> Forest:
        """Every chain, then every chain reversed: 2N nodes."""
        keys = self._key_lists()
        return Forest((*self.trees, *self._reversed_trees()), None if keys is None else keys * 2).to(
            self.device
        )

    @cached_property
    @torch.inference_mode(False)
    def by_unit(self) -> Forest:
        """The same units, each with an input of its own: for a layer that reads the states of another."""
        copy = self._copied()
        copy.own_inputs = True
        return copy

    @cached_property
    @torch.inference_mode(False)
    def tree_sizes(self) -> Tensor:
        """(trees,) nodes in each tree."""
        return torch.from_numpy(np.diff(self._starts)).to(self.device)

    @cached_property
    @torch.inference_mode(False)
    def tree_of(self) -> Tensor:
        """(N,) the tree each node belongs to."""
        return torch.arange(len(self), device=self.device).repeat_interleave(self.tree_sizes)

    def check_chains(self) -> None:
        """A ValueError where a tree is not a chain."""
        if self.units and self._degrees.max() > 1:
            unit = int(self._degrees.argmax())
            where = self.place(int(self.node_of[unit]))
            raise ValueError(
                f"{where} has {self._degrees[unit]} children; in a chain every node has at most one"
            )

    @cached_property
    @torch.inference_mode(False)
    def chain_starts(self) -> Tensor:
        """(trees,) the leaf of every chain: the sentence's first word."""
        starts = [start + int(tree.leaves[0]) for start, tree in zip(self._starts, self.trees, strict=False)]
        return torch.tensor(starts, dtype=torch.int64, device=self.device)

    def _copied(self) -> Forest:
        """A shallow copy, without what was derived and cached."""
        copy = object.__new__(Forest)
        derived = {name for name, value in vars(Forest).items() if isinstance(value, cached_property)} | {
            "_slots"
        }
        copy.__dict__.update({name: value for name, value in self.__dict__.items() if name not in derived})
        return copy

    def _key_lists(self) -> list[Ints] | None:
        return None if self.keys is None else np.split(self.keys, self._starts[1:-1])[: len(self)]

    def _reversed_trees(self) -> list[Tree]:
        self.check_chains()
        return [_reversed_chain(tree) for tree in self.trees]


def _reversed_chain(tree: Tree) -> Tree:
    parents = np.full(len(tree), -1)
    parents[tree.degrees > 0] = tree.child_list  # sorted by parent, and every parent has one
    return Tree(parents)


def _joined_keys(keys: Sequence[Sequence[int] | Ints], sizes: Ints) -> Ints:
    if len(keys) != len(sizes):
        raise ValueError(f"keys for {len(keys)} trees; the forest has {len(sizes)}")
    arrays = [np.asarray(part) for part in keys]
    for number, (part, size) in enumerate(zip(arrays, sizes.tolist(), strict=True)):
        if part.shape != (size,):
            raise ValueError(f"{part.size} keys for tree {number} of {size} nodes; give one int a node")
        if part.dtype.kind not in "iu":
            raise ValueError(f"keys of tree {number} are {part.dtype}; a key is an int")
    return joined([part.astype(np.int64, copy=False) for part in arrays])


def _chunked(counts: Sequence[int]) -> list[int]:
    """Level sizes with every level cut into pieces of at most CHUNK rows (the leaves stay whole)."""
    sizes = list(counts[:1])
    for count in counts[1:]:
        sizes += [CHUNK] * (count // CHUNK)
        if count % CHUNK:
            sizes.append(count % CHUNK)
    return sizes
