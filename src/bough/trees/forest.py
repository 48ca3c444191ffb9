"""Many trees as one schedule: nodes sorted by height, equal subtrees merged, every level a slice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from bough.trees.builders import chain, reversed_chain
from bough.trees.schedule import Levels, from_roots, joined_keys, levels, places, relation_ids
from bough.trees.subtree_sharing import Flat, Words, flatten, merged
from bough.trees.tree import Tree
from bough.trees.validate import Ints

T = TypeVar("T")


def _derived(make: Callable[[Any], T]) -> cached_property[T]:
    """Made when first asked for, and fit for training even if that is in inference mode."""
    return cached_property(torch.inference_mode(False)(make))


class Forest:
    """Trees, in the order given, scheduled for the layers of `bough.nn`.

    Nodes are numbered consecutively: tree 0's first, then tree 1's, and so on. The layers compute *unique nodes*,
    sorted by height so that a level is a slice. Without `keys` every node is unique; with them, equal subtrees are
    computed once.

    Args:
        trees: the trees.
        keys: one list of ints per tree; an equal key promises an equal input.
        relations: a number for each relation name, for layers with weights per relation; trees whose relations are
            ints need none.
        digests: what `bough.trees.subtree_sharing.prepared(trees, keys)` returned, to save time; not for trees with
            relations.

    Shape:
        N nodes (`size`), U <= N unique nodes (`num_unique`), E edges: `roots` (trees,), `unit_of` (N,), `node_of` (U,),
        `inputs` (M,), `input_of` (U,), `children` (E,), `edge_parents` (E,).

    Examples:
        >>> from bough import Forest, Tree
        >>> Forest([Tree(parents=[1, -1, 1]), Tree(parents=[1, -1])], keys=[[7, 8, 9], [7, 8]])
        Forest(2 trees, 5 nodes, 4 computed, 2 levels)
    """

    _places: Tensor  # (E,) of a forest that runs down

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
        self.keys = None if keys is None else joined_keys(keys, np.diff(self._starts))
        self._schedule(flat, np.concatenate(digests) if digests else None)

    def __len__(self) -> int:
        return len(self.trees)

    def __repr__(self) -> str:
        sizes = f"{len(self)} trees, {self.size} nodes, {self.num_unique} computed, {len(self.level_sizes)} levels"
        return f"Forest({sizes})"

    def _repr_svg_(self) -> str | None:
        from bough.draw.tree_svg import svg

        return svg(self.trees, repr(self), caption=repr(self))

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
        related = relation_ids(self.trees, self._vocabulary)
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

        self.num_unique = len(node_of)
        counts = np.bincount(heights[node_of]).tolist() if self.num_unique else []
        self.leaves = counts[0] if counts else 0
        self._set_levels(levels(counts, self._degrees))

        self.roots = torch.from_numpy(roots)
        self.unit_of = torch.from_numpy(unit_of)
        self.node_of, self._nodes = torch.from_numpy(node_of), node_of
        self.children = torch.from_numpy(unit_of[self.edge_nodes])
        self.edge_relations = None if related is None else torch.from_numpy(related[self.edge_nodes])
        self.runs_down = False  # whether units are sorted from the roots, and an edge leads to the parent
        self.inputs_are_unique = self.keys is None  # and in the units' order

    def _set_levels(self, found: Levels) -> None:
        self.level_sizes, self.slices, self.edge_sizes, self.edge_slices = found

    @_derived
    def edge_parents(self) -> Tensor:
        """(E,) the unit at the upper end of each edge."""
        return torch.from_numpy(np.repeat(np.arange(self.num_unique), self._degrees)).to(self.device)

    @_derived
    def edge_rows(self) -> Tensor:
        """(E,) the same, counted within the unit's level."""
        starts = np.array([start for start, _ in self.slices], dtype=np.int64)
        return self.edge_parents - torch.from_numpy(np.repeat(starts, self.edge_sizes)).to(self.device)

    @_derived
    def _inputs(self) -> tuple[Tensor, Tensor]:
        if self.inputs_are_unique:
            return self.node_of, torch.arange(self.num_unique, device=self.device)
        assert self.keys is not None
        _, some, which = np.unique(self.keys[self._nodes], return_index=True, return_inverse=True)
        return torch.from_numpy(self._nodes[some]).to(self.device), torch.from_numpy(which).to(self.device)

    @property
    def inputs(self) -> Tensor:
        """(M,) one node per distinct input."""
        return self._inputs[0]

    @property
    def input_of(self) -> Tensor:
        """(U,) each unit's place among `inputs`."""
        return self._inputs[1]

    @_derived
    def subtree_sizes(self) -> Tensor:
        """(U,) nodes in each unit's subtree, itself included."""
        sizes = np.ones(self.num_unique, dtype=np.int64)
        children, parents = self.children.cpu().numpy(), self.edge_parents.cpu().numpy()
        for edges in self.edge_slices:
            np.add.at(sizes, parents[edges], sizes[children[edges]])
        return torch.from_numpy(sizes).to(self.device)

    @torch.inference_mode(False)
    def slots(self, arity: int) -> Tensor:
        """(U - leaves, arity) the children of every inner unique node; `num_unique` for an empty slot."""
        cache: dict[int, Tensor] = self.__dict__.setdefault("_slots", {})
        if arity not in cache:
            self.check_arity(arity)
            inner = self._degrees[self.leaves :]
            if (inner == arity).all():
                table = self.children.view(-1, arity)
            else:
                table = torch.full((len(inner), arity), self.num_unique, device=self.device)
                table[self.edge_parents - self.leaves, self.edge_places] = self.children
            cache[arity] = table
        return cache[arity]

    @cached_property
    def _flat(self) -> Flat:
        return flatten(self.trees)

    @_derived
    def edge_places(self) -> Tensor:
        """(E,) where the lower end of each edge stands among its siblings."""
        return self._places if self.runs_down else torch.from_numpy(places(self._degrees)).to(self.device)

    @cached_property
    def most_children(self) -> int:
        """Of any node."""
        return int(self._children_of.max(initial=0))

    @property
    def _children_of(self) -> Ints:
        return self._flat.degrees if self.runs_down else self._degrees

    def check_arity(self, arity: int) -> None:
        """Raise a ValueError if a node has more children than `arity`."""
        if self.most_children > arity:
            found = int(self._children_of.argmax())
            node = self.describe_node(found if self.runs_down else int(self.node_of[found]))
            raise ValueError(f"{node} has {self.most_children} children; the layer's arity is {arity}")

    def describe_node(self, node: int) -> str:
        """Return a node's tree and its number there, for error messages."""
        tree = int(np.searchsorted(self._starts, node, side="right")) - 1
        return f"node {node - int(self._starts[tree])} of tree {tree}"

    # ------------------------------------------------------------- other forests

    @cached_property
    def unshared(self) -> Forest:
        """The same trees with every node its own unit, for dropout inside the recursion."""
        if self.keys is None:
            return self
        alone = Forest(self.trees, relations=self._vocabulary).to(self.device)
        return alone

    @_derived
    def from_roots(self) -> Forest:
        """The same trees scheduled from the roots: every node its own unit, its one edge leads to its parent."""
        found = from_roots(self._flat)
        turned = self._copied()
        turned.runs_down, turned.inputs_are_unique, turned.keys = True, True, None
        turned.num_unique, turned.leaves = self.size, len(self)
        turned._degrees, turned.edge_nodes, turned._nodes = found.degrees, found.edge_nodes, found.node_of
        turned._set_levels(levels(found.counts, found.degrees))
        arrays = (found.node_of, found.unit_of, found.neighbours, found.places)
        moved = (torch.from_numpy(array).to(self.device) for array in arrays)
        turned.node_of, turned.unit_of, turned.children, turned._places = moved
        related = relation_ids(self.trees, self._vocabulary)
        if related is not None:
            turned.edge_relations = torch.from_numpy(related[found.edge_nodes]).to(self.device)
        return turned

    @cached_property
    def as_chains(self) -> Forest:
        """The nodes of every tree in a row, by index: the words of dependency trees, in the sentence's order."""
        return Forest([chain(len(tree)) for tree in self.trees], self._key_lists()).to(self.device)

    @cached_property
    def reversed(self) -> Forest:
        """Chains read from the last word to the first; any other tree is a ValueError."""
        return Forest(self._reversed_trees(), self._key_lists()).to(self.device)

    @cached_property
    def both_ways(self) -> Forest:
        """Every chain, then every chain reversed: 2N nodes."""
        trees, keys = (*self.trees, *self._reversed_trees()), self._key_lists()
        return Forest(trees, None if keys is None else keys * 2).to(self.device)

    @_derived
    def by_unit(self) -> Forest:
        """The same units, each with an input of its own: for a layer that reads the states of another."""
        copy = self._copied()
        copy.inputs_are_unique = True
        return copy

    @_derived
    def tree_sizes(self) -> Tensor:
        """(trees,) nodes in each tree."""
        return torch.from_numpy(np.diff(self._starts)).to(self.device)

    @_derived
    def tree_of(self) -> Tensor:
        """(N,) the tree each node belongs to."""
        return torch.arange(len(self), device=self.device).repeat_interleave(self.tree_sizes)

    def check_chains(self) -> None:
        """Raise a ValueError if a tree is not a chain."""
        if self.num_unique and self._degrees.max() > 1:
            unit = int(self._degrees.argmax())
            where = self.describe_node(int(self.node_of[unit]))
            many = f"{where} has {self._degrees[unit]} children"
            raise ValueError(f"{many}; in a chain every node has at most one")

    @_derived
    def chain_starts(self) -> Tensor:
        """(trees,) the leaf of every chain: the sentence's first word."""
        starts = [start + int(tree.leaves[0]) for start, tree in zip(self._starts, self.trees, strict=False)]
        return torch.tensor(starts, dtype=torch.int64, device=self.device)

    def _copied(self) -> Forest:
        """A shallow copy, without what was derived and cached."""
        copy = object.__new__(Forest)
        kept = {k: v for k, v in vars(self).items() if not isinstance(vars(Forest).get(k), cached_property)}
        copy.__dict__.update(kept | {"_slots": {}, "_plans": {}})
        return copy

    def _key_lists(self) -> list[Ints] | None:
        return None if self.keys is None else np.split(self.keys, self._starts[1:-1])[: len(self)]

    def _reversed_trees(self) -> list[Tree]:
        self.check_chains()
        return [reversed_chain(tree) for tree in self.trees]
