"""Batch trees or acyclic graphs in one schedule: nodes are sorted by height, so that every level is a slice."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from bough.trees import validate
from bough.trees.builders import chain, reversed_chain
from bough.trees.conversions import REVERSE
from bough.trees.graph import Graph
from bough.trees.subtree_sharing import Digests, Flat, flatten, merged
from bough.trees.tree import Tree
from bough.trees.validate import Floats, Ints, inverse

T = TypeVar("T")


def _derived(make: Callable[[Any], T]) -> cached_property[T]:
    """Cache a property. Compute it outside inference mode, so that its tensors can be used in training, too."""
    return cached_property(torch.inference_mode(False)(make))


class Forest:
    """Batch of trees with the schedule by which the layers of `bough.nn` compute it; `from_edges` takes graphs.

    Nodes are numbered consecutively: tree 0's first, then tree 1's, and so on. The layers compute
    *unique nodes*, sorted by height so that a level is a slice. Without `keys` every node is
    unique; with them, equal subtrees are computed once.

    Args:
        trees: the trees, or graphs.
        keys: one list of ints per tree; nodes with equal keys must have equal inputs.
        relations: the id of each relation, for layers with weights per relation, unless the relations are ints.
        digests: the result of `bough.trees.subtree_sharing.prepared(trees, keys)`; not used with relations.

    Shape:
        N nodes (`num_nodes`), E edges: `roots` (trees,), `batch` (N,), `ptr` (trees + 1,),
        `edge_index` (2, E). U <= N unique nodes (`num_unique`): `unique_of` (N,), `node_of` (U,),
        `inputs` (M,), `input_of` (U,). The edges
        between unique nodes, sorted by parent: `children` and `edge_parents`.

    Examples:
        >>> from bough import Forest, Tree
        >>> Forest([Tree(parents=[1, -1, 1]), Tree(parents=[1, -1])], keys=[[7, 8, 9], [7, 8]])
        Forest(2 trees, 5 nodes, 4 computed, 2 levels)
    """

    device = torch.device("cpu")
    keys: Ints | None = None  # (N,)
    runs_down = False  # whether unique nodes are sorted from the roots, and edges lead to parents
    # (E,) the column of `edge_index` of each edge of `_flat.below`; None if all examples are trees
    _columns: Ints | None = None
    _kinds: Ints | None = None  # (N,) the kind of each node, by which the nodes of a level are sorted
    _of_kinds: Forest | None = None  # the last result of `with_kinds`
    _examples: tuple[Tree | Graph, ...] | None  # None if the forest was made from edges

    def __init__(
        self,
        trees: Sequence[Tree | Graph],
        keys: Sequence[Sequence[int] | Ints] | None = None,
        *,
        relations: Mapping[Any, int] | None = None,
        digests: Sequence[Digests] | None = None,
    ) -> None:
        if isinstance(trees, Tree | Graph):
            kind = type(trees).__name__
            raise TypeError(f"a {kind}, where a list of trees is expected: Forest([{kind.lower()}])")
        self._examples = tuple(trees)
        for number, tree in enumerate(self._examples):
            if not isinstance(tree, Tree | Graph):
                what = "None" if tree is None else f"a {type(tree).__name__}"
                raise TypeError(f"tree {number} is {what}; expected a bough.Tree or a bough.Graph")
        self.num_nodes = sum(map(len, self._examples))
        if any(isinstance(example, Graph) for example in self._examples):
            self._columns = _columns(self._examples)
        if keys is not None or relations is not None:
            self._schedule(keys, relations, digests)

    @torch.inference_mode(False)  # the schedule may be used later in training
    def _schedule(
        self,
        keys: Sequence[Sequence[int] | Ints] | None = None,
        relations: Mapping[Any, int] | None = None,
        digests: Sequence[Digests] | None = None,
    ) -> None:
        assert self._examples is not None
        flat = self._flat = flatten(self._examples)
        self.keys = None if keys is None else validate.checked_keys(keys, np.diff(flat.starts))
        has_parent = np.zeros(self.num_nodes, dtype=bool)
        has_parent[flat.below] = True
        self.roots = torch.from_numpy(np.flatnonzero(~has_parent))
        related = validate.relation_ids(list(map(_edge_relations, self._examples)), relations)
        self._relations = None if related is None else related[self._flat_columns()]
        self._schedule_by_height(np.concatenate(digests) if digests else None)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Compute the schedule of trees without keys at its first use: compiled code may not need it."""
            if "_flat" not in self.__dict__ and not name.startswith("__"):
                self._schedule()
            return object.__getattribute__(self, name)

    @classmethod
    @torch.inference_mode(False)
    def from_edges(
        cls,
        edge_index: Tensor | Ints | Sequence[Sequence[int]],
        num_nodes: int,
        batch: Tensor | Ints | Sequence[int] | None = None,
        relations: Tensor | Ints | Sequence[int] | None = None,
    ) -> Forest:
        """Return a forest of graphs, in which a node may have several parents, and a graph several roots.

        A node with several parents is computed once, and its gradient is the sum over its parents.
        The children of a node are ordered by their column in `edge_index`. Raise a ValueError that
        names the nodes if there is a cycle.

        Args:
            edge_index: (2, E), the child of each edge and its parent, as in PyTorch Geometric.
            num_nodes: the number N of nodes.
            batch: (N,) the graph of each node, in ascending order; without it there is one graph.
            relations: (E,) an int for each edge, for layers with weights per relation.

        Examples:
            >>> import bough
            >>> bough.Forest.from_edges([[0, 0, 1, 2], [1, 2, 3, 3]], num_nodes=4)  # 0 has the parents 1 and 2
            Forest(1 graph, 4 nodes, 4 edges, 3 levels)
        """
        lower, upper, starts, related = validate.checked_edges(edge_index, num_nodes, batch, relations)
        columns = np.argsort(upper, kind="stable")
        degrees = np.bincount(upper, minlength=num_nodes)
        heights = validate.longest_paths(lower, upper, num_nodes)
        forest = cls(())
        forest._examples, forest._columns, forest.num_nodes = None, columns, num_nodes
        forest.roots = torch.from_numpy(np.flatnonzero(np.bincount(lower, minlength=num_nodes) == 0))
        forest._flat = Flat(starts, heights, degrees, np.cumsum(degrees) - degrees, lower[columns])
        forest._relations = None if related is None else related[columns]
        forest._schedule_by_height(None)
        return forest.to(edge_index.device) if isinstance(edge_index, Tensor) else forest

    def __len__(self) -> int:
        return len(self._flat.starts) - 1 if self._examples is None else len(self._examples)

    def __repr__(self) -> str:
        if self._columns is None:
            sizes = f"{len(self)} trees, {self.num_nodes} nodes, {self.num_unique} computed"
        else:
            graphs = "1 graph" if len(self) == 1 else f"{len(self)} graphs"
            sizes = f"{graphs}, {self.num_nodes} nodes, {len(self._columns)} edges"
        return f"Forest({sizes}, {len(self.level_sizes)} levels)"

    def _repr_svg_(self) -> str | None:
        from bough.draw.tree_svg import svg

        return svg(self._examples, repr(self), caption=repr(self)) if self._examples is not None else None

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The trees. Raise a ValueError if the forest has a graph that is not a tree."""
        if self._examples is not None and all(isinstance(example, Tree) for example in self._examples):
            return self._examples  # type: ignore[return-value]
        self.check_one_parent()
        self.check_one_root()
        parents = self._parents_by_edges()
        firsts = np.repeat(self._flat.starts[:-1], np.diff(self._flat.starts))
        inside = np.where(parents < 0, -1, parents - firsts)
        return tuple(map(Tree, np.split(inside, self._flat.starts[1:-1])))

    @torch.inference_mode(False)
    def to(self, device: torch.device | str) -> Forest:
        """Return the same forest with its index tensors on another device."""
        if torch.device(device) == self.device:
            return self
        moved = self._copied()
        for name, value in self.__dict__.items():
            if isinstance(value, Tensor) and name in moved.__dict__:
                setattr(moved, name, value.to(device))
        moved.device = moved.roots.device  # "cuda:0" even if "cuda" was asked for, as in x.device
        return moved

    def _schedule_by_height(self, words: Digests | None) -> None:
        # nodes of one height are one step, so a batch needs as many steps as its tallest tree has levels
        flat = self._flat
        order = self._sorted(flat.heights)
        if self.keys is None:
            node_of, unique_of = order, inverse(order)
        else:
            node_of, unique_of = merged(flat, order, self.keys, self._relations, words)
        # without keys every unique node has an input of its own, in the same order
        self.inputs_are_unique = self.keys is None
        self._set_schedule(node_of, unique_of, flat.heights, flat.degrees, flat.below, None)

    def _sorted(self, ranks: Ints) -> Ints:
        """Return the nodes sorted by rank, and within a rank by kind."""
        if self._kinds is None:
            return np.argsort(ranks.astype(np.int32), kind="stable")
        return np.lexsort((self._kinds, ranks))

    @torch.inference_mode(False)
    def with_kinds(self, kinds: Tensor | Ints | Sequence[int]) -> Forest:
        """Return the same forest, with the nodes of each level sorted by kind.

        `layer(x, forest, kinds=ids)` calls it. The last result is kept, for a forest that is used again.

        Args:
            kinds: (N,) the kind of each node, an int from 0.
        """
        ids = validate.checked_kinds(kinds, self.num_nodes)
        last = self._of_kinds
        if last is None or last._kinds is None or not np.array_equal(ids, last._kinds):
            other = self._copied()
            other._kinds = ids
            if self.keys is not None:  # nodes with equal inputs are equal only if they have the same kind
                distinct = np.unique(self.keys, return_inverse=True)[1]
                other.keys = distinct * (ids.max(initial=0) + 1) + ids
            other._schedule_by_height(None)
            last = self._of_kinds = other
        return last

    @_derived
    def kinds(self) -> Tensor | None:
        """(U,) the kind of each unique node, or None."""
        return None if self._kinds is None else torch.from_numpy(self._kinds[self._nodes]).to(self.device)

    @cached_property
    def kind_sizes(self) -> list[list[tuple[int, int]]] | None:
        """The kinds of each level, ascending, with the number of unique nodes of each; None without kinds."""
        if self._kinds is None:
            return None
        kinds, sizes = self._kinds[self._nodes], [list[tuple[int, int]]() for _ in self.slices]
        levels = np.repeat(np.arange(len(self.slices)), self.level_sizes)
        first = np.flatnonzero(np.diff(levels, prepend=-1) | np.diff(kinds, prepend=-1))
        for start, end in pairwise([*first.tolist(), len(kinds)]):
            sizes[levels[start]].append((int(kinds[start]), end - start))
        return sizes

    @torch.inference_mode(False)
    def _set_schedule(
        self, node_of: Ints, unique_of: Ints, ranks: Ints, degrees: Ints, far: Ints, order: Ints | None
    ) -> None:
        """Sort the edges by the unique node that reads them, and divide nodes and edges into levels.

        Args:
            node_of: (U,) a node for each unique node, sorted by rank.
            unique_of: (N,) the unique node of each node.
            ranks: (N,) the level of each node.
            degrees: (N,) the number of edges that each node reads.
            far: (E,) the node that is read along each edge, in the order of `_flat.below`.
            order: (E,) the edges sorted by the node that reads them; None if `_flat.below` has this order.
        """
        first = np.cumsum(degrees) - degrees
        self._degrees = degrees[node_of]
        ends = np.cumsum(self._degrees)
        edges = np.arange(ends[-1] if len(ends) else 0)
        edges += np.repeat(first[node_of] - (ends - self._degrees), self._degrees)
        self._edges = edges if order is None else order[edges]  # (E,) the index of each edge in `_flat.below`
        self.children = torch.from_numpy(unique_of[far[self._edges]]).to(self.device)
        self.edge_relations = None
        if self._relations is not None:
            self.edge_relations = torch.from_numpy(self._relations[self._edges]).to(self.device)

        self.num_unique = len(node_of)
        self.level_sizes: list[int] = np.bincount(ranks[node_of]).tolist() if self.num_unique else []
        self.num_unique_leaves = self.level_sizes[0] if self.level_sizes else 0
        self.slices = tuple(pairwise(np.cumsum([0, *self.level_sizes]).tolist()))
        bounds = [0, *ends.tolist()]
        self.edge_slices = [slice(bounds[start], bounds[end]) for start, end in self.slices]
        self.edge_sizes = [part.stop - part.start for part in self.edge_slices]
        self._nodes = node_of
        self.node_of = torch.from_numpy(node_of).to(self.device)
        self.unique_of = torch.from_numpy(unique_of).to(self.device)

    @_derived
    def edge_parents(self) -> Tensor:
        """(E,) the unique node that reads each edge."""
        return torch.from_numpy(np.repeat(np.arange(self.num_unique), self._degrees)).to(self.device)

    @_derived
    def edge_rows(self) -> Tensor:
        """(E,) the unique node that reads each edge, counted within its level."""
        starts = np.array([start for start, _ in self.slices], dtype=np.int64)
        return self.edge_parents - torch.from_numpy(np.repeat(starts, self.edge_sizes)).to(self.device)

    @_derived
    def level_edges(self) -> list[tuple[Tensor, Tensor]]:
        """For each level, the unique nodes that it reads, and the node that reads each, counted within the level."""
        parts = (edges.split(self.edge_sizes) for edges in (self.children, self.edge_rows))
        return list(zip(*parts, strict=True))

    @property
    def edge_nodes(self) -> Ints:
        """(E,) the node at the lower end of each edge."""
        return self._flat.below[self._edges]

    @_derived
    def edge_columns(self) -> Tensor:
        """(E,) the column of each edge in `edge_index`."""
        return torch.from_numpy(self._flat_columns()[self._edges]).to(self.device)

    @_derived
    def edge_index(self) -> Tensor:
        """(2, E) the child and the parent of each edge, for all nodes; `edge_features` has one row per column.

        The edges of trees are sorted by child; those of a forest made from edges keep their order.
        """
        index = np.empty((2, len(self._flat.below)), dtype=np.int64)
        index[:, self._flat_columns()] = self._flat.below, self._upper_ends()
        return torch.from_numpy(index).to(self.device)

    def _flat_columns(self) -> Ints:
        """Return the column in `edge_index` of each edge of `_flat.below` (E,)."""
        if self._columns is not None:
            return self._columns
        has_parent = np.ones(self.num_nodes, dtype=np.int64)
        has_parent[self.roots.cpu().numpy()] = 0
        return (np.cumsum(has_parent) - 1)[self._flat.below]

    def _parents_by_edges(self) -> Ints:
        parents = np.full(self.num_nodes, -1)
        parents[self._flat.below] = self._upper_ends()
        return parents

    def _upper_ends(self) -> Ints:
        """Return the parent of each edge of `_flat.below` (E,)."""
        return np.repeat(np.arange(self.num_nodes), self._flat.degrees)

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
        """(U,) each unique node's index in `inputs`."""
        return self._inputs[1]

    @_derived
    def subtree_sizes(self) -> Tensor:
        """(U,) the size of each unique node's subtree, including the node; a node counts once for each path to it."""
        sizes = np.ones(self.num_unique)  # floats, since there may be more than 2**63 paths to a shared node
        children, parents = self.children.cpu().numpy(), self.edge_parents.cpu().numpy()
        with np.errstate(over="ignore"):
            for edges in self.edge_slices:
                np.add.at(sizes, parents[edges], sizes[children[edges]])
        return torch.from_numpy(np.minimum(sizes, 2.0**62).astype(np.int64)).to(self.device)

    @_derived
    def edge_places(self) -> Tensor:
        """(E,) the position of each edge's lower end among the children of its upper end."""
        return torch.from_numpy(self._flat.places[self._edges]).to(self.device)

    @_derived
    def edge_index_places(self) -> Tensor:
        """(E,) the position of each edge's child among the children of its parent, in the order of `edge_index`."""
        places = np.empty_like(self._flat.below)
        places[self._flat_columns()] = self._flat.places
        return torch.from_numpy(places).to(self.device)

    @_derived
    def leaf_nodes(self) -> Tensor:
        """(leaves,) the nodes without children, of all trees."""
        return torch.from_numpy(np.flatnonzero(self._flat.degrees == 0)).to(self.device)

    @property
    def leaves(self) -> int:
        """The number of unique nodes without children. Deprecated: use `num_unique_leaves`."""
        new = "use num_unique_leaves for this number, or leaf_nodes for the nodes"
        warnings.warn(f"Forest.leaves is deprecated; {new}", DeprecationWarning, stacklevel=2)
        return self.num_unique_leaves

    @property
    def tokens(self) -> tuple[str | None, ...]:
        """(N,) the tokens of all nodes, None where a node has none."""
        if self._examples is None:
            return (None,) * self.num_nodes
        return tuple(token for tree in self._examples for token in tree.tokens or (None,) * len(tree))

    @_derived
    def features(self) -> Tensor | None:
        """(N, F) the features of all nodes in torch's default float type, NaN if missing; None if there are none."""
        return self._joined_features("features", lambda tree: tree.features)

    @_derived
    def edge_features(self) -> Tensor | None:
        """(E, F) the features of all edges in the order of `edge_index`, as `features`; None if there are none."""
        return self._joined_features("edge_features", _edge_feature_rows)

    def _joined_features(self, name: str, rows_of: Callable[[Tree | Graph], Floats | None]) -> Tensor | None:
        examples = self._examples or ()
        rows = [rows_of(example) for example in examples]
        layouts = [
            (None if part is None else part.shape[1], getattr(tree, f"{name.removesuffix('s')}_names"))
            for tree, part in zip(examples, rows, strict=True)
        ]
        for number, layout in enumerate(layouts):
            if layout != layouts[0]:
                first, other = (
                    f"{width} {name} {list(names)}" if width is not None else f"no {name}"
                    for width, names in (layouts[0], layout)
                )
                raise ValueError(
                    f"tree {number} has {other}, tree 0 has {first}; give all trees the same columns"
                )
        whole = [part for part in rows if part is not None]
        if not whole:
            return None
        return torch.from_numpy(np.concatenate(whole)).to(self.device, torch.get_default_dtype())

    def pool(
        self,
        h: Tensor,
        how: Literal["max", "mean", "sum"],
        over: Literal["nodes", "leaves", "roots"] = "nodes",
    ) -> Tensor:
        """Return a vector per tree (trees, D) from the rows h (N, D): a readout, or global pooling.

        Args:
            h: one row per node.
            how: the "max", "mean" or "sum" over the rows; zeros for a graph without nodes.
            over: the rows that count: those of all "nodes", of the "leaves" or of the "roots".

        Examples:
            >>> import torch
            >>> forest = Forest([Tree(parents=[1, -1, 1]), Tree(parents=[1, -1])])
            >>> forest.pool(torch.tensor([[1.0], [2.0], [6.0], [4.0], [5.0]]), "mean", over="leaves").tolist()
            [[3.5], [4.0]]
        """
        if how not in ("max", "mean", "sum"):
            raise ValueError(f"how={how!r}: 'max', 'mean' or 'sum'")
        if len(h) != self.num_nodes or h.device != self.device:
            found = f"h has {len(h)} rows on {h.device}"
            raise ValueError(
                f"{found}; the forest has {self.num_nodes} nodes, one row each, on {self.device}"
            )
        graph_of, counts = self._rows_pooled(over)
        if over != "nodes":
            h = h.index_select(0, self.leaf_nodes if over == "leaves" else self.roots)
        if how == "max":
            pooled: Tensor = _SegmentMax.apply(h, counts, graph_of)  # type: ignore[no-untyped-call]
            return pooled
        sums = h.new_zeros(len(self), *h.shape[1:]).index_add(0, graph_of, h)
        if how == "sum":
            return sums
        return sums / counts.clamp_min(1).view(-1, *[1] * (h.dim() - 1))

    def _rows_pooled(self, over: str) -> tuple[Tensor, Tensor]:
        """Return the tree of each node, leaf or root, and their number per tree (trees,)."""
        if over == "nodes":
            return self.batch, self.ptr.diff()
        if over not in ("leaves", "roots"):
            raise ValueError(f"over={over!r}: 'nodes', 'leaves' or 'roots'")
        graph_of = self.batch.index_select(0, self.leaf_nodes if over == "leaves" else self.roots)
        return graph_of, torch.bincount(graph_of, minlength=len(self))

    @_derived
    def batch(self) -> Tensor:
        """(N,) the tree that each node belongs to."""
        return torch.arange(len(self), device=self.device).repeat_interleave(self.ptr.diff())

    @_derived
    def ptr(self) -> Tensor:
        """(trees + 1,) the first node of each tree, and the number of nodes."""
        return torch.from_numpy(self._flat.starts).to(self.device)

    def describe_node(self, node: int) -> str:
        """Return the name of a node for errors: its tree and its index there, or its index in `edge_index`."""
        if self._examples is None:
            return f"node {node}"
        tree = int(np.searchsorted(self._flat.starts, node, side="right")) - 1
        kind = type(self._examples[tree]).__name__.lower()
        return f"node {node - int(self._flat.starts[tree])} of {kind} {tree}"

    @cached_property
    def parents(self) -> Ints | None:
        """(N,) the parent of each node, -1 for a root; None for a forest made from edges."""
        if self._columns is not None or self.runs_down:
            return None
        if len(self.trees) == 1:
            return self.trees[0].parents
        return self._parents_by_edges()

    @cached_property
    def most_children(self) -> int:
        """The largest number of children of a node."""
        return int(self._flat.degrees.max(initial=0))

    def check_arity(self, arity: int) -> None:
        """Raise a ValueError if a node has more children than `arity`."""
        if self.most_children > arity:
            node = self.describe_node(int(self._flat.degrees.argmax()))
            raise ValueError(f"{node} has {self.most_children} children; the layer's arity is {arity}")

    @cached_property
    def _parent_counts(self) -> Ints:
        return np.bincount(self._flat.below, minlength=1)

    def check_one_parent(self) -> None:
        """Raise a ValueError if a node has several parents."""
        if self._columns is not None and self._parent_counts.max() > 1:
            node = int(self._parent_counts.argmax())
            count = self._parent_counts[node]
            wrong = f"{self.describe_node(node)} has {count} parents; in a tree it has at most one"
            raise ValueError(f"{wrong} ({self._reverse()})")

    def check_one_root(self) -> None:
        """Raise a ValueError unless every graph has exactly one root."""
        if self._columns is not None:
            roots = torch.bincount(self.batch[self.roots], minlength=len(self))
            if (roots != 1).any():
                graph = int((roots != 1).int().argmax())
                wrong = f"graph {graph} has {int(roots[graph])} roots; one vector per graph needs exactly one"
                way_out = "or use forest.pool(h, ..., over='roots')"
                raise ValueError(f"{wrong} ({way_out}; {self._reverse()})")

    def _reverse(self) -> str:
        return REVERSE.replace("child to parent", "parent to child") + ": edge_index.flip(0)"

    def check_chains(self) -> None:
        """Raise a ValueError if a tree is not a chain."""
        if self.most_children > 1:
            node = f"{self.describe_node(int(self._flat.degrees.argmax()))} has {self.most_children} children"
            raise ValueError(f"{node}; in a chain every node has at most one")
        self.check_one_parent()
        self.check_one_root()

    @cached_property
    def unshared(self) -> Forest:
        """The same forest without sharing, for a layer in which equal subtrees may have different states."""
        if self.keys is None:
            return self
        other = self._copied()
        other.keys = None
        other._schedule_by_height(None)
        return other

    @cached_property
    def from_roots(self) -> Forest:
        """The same forest scheduled from the roots, without sharing: a node reads its parents."""
        flat, parents = self._flat, self._upper_ends()
        degrees = np.bincount(flat.below, minlength=self.num_nodes)
        if degrees.max(initial=0) > 1:  # several parents
            ranks = validate.longest_paths(parents, flat.below, self.num_nodes)
        else:
            above = np.full(self.num_nodes, -1)
            above[flat.below] = parents
            ranks = validate.depths(above)
        node_of = self._sorted(ranks)
        other = self._copied()
        other.runs_down, other.inputs_are_unique, other.keys = True, True, None
        order = np.argsort(flat.below, kind="stable")
        other._set_schedule(node_of, inverse(node_of), ranks, degrees, parents, order)
        return other

    @cached_property
    def as_chains(self) -> Forest:
        """The nodes of each tree as a chain, by index: the words of dependency trees in the order of the sentence."""
        sizes = np.diff(self._flat.starts).tolist()
        return Forest([chain(size) for size in sizes], self._key_lists()).to(self.device)

    @cached_property
    def reversed(self) -> Forest:
        """The chains in reverse, from the last word to the first. Raise a ValueError if a tree is not a chain."""
        self.check_chains()
        return Forest([reversed_chain(tree) for tree in self.trees], self._key_lists()).to(self.device)

    @cached_property
    def both_ways(self) -> Forest:
        """All chains, followed by all chains in reverse: 2N nodes."""
        self.check_chains()
        trees, keys = (*self.trees, *map(reversed_chain, self.trees)), self._key_lists()
        return Forest(trees, None if keys is None else keys * 2).to(self.device)

    @_derived
    def with_own_inputs(self) -> Forest:
        """The same forest, with an input for each unique node: for a layer that reads the states of another layer."""
        copy = self._copied()
        copy.inputs_are_unique = True
        return copy

    @_derived
    def chain_starts(self) -> Tensor:
        """(trees,) the leaf of each chain, which is the first word of the sentence."""
        return self.leaf_nodes

    def _copied(self) -> Forest:
        """Return a shallow copy without the cached properties."""
        self._flat  # noqa: B018 - computes the schedule if there is none yet
        copy = object.__new__(Forest)
        kept = {k: v for k, v in vars(self).items() if not isinstance(vars(Forest).get(k), cached_property)}
        copy.__dict__.update(kept | {"_plans": {}, "_of_kinds": None})
        return copy

    def _key_lists(self) -> list[Ints] | None:
        return None if self.keys is None else np.split(self.keys, self._flat.starts[1:-1])[: len(self)]


class _SegmentMax(torch.autograd.Function):
    """Maximum of the rows of each tree; equal maxima share the gradient, unlike in torch's `segment_reduce`."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, counts: Tensor, graph_of: Tensor) -> Tensor:
        largest = torch.segment_reduce(h, "max", lengths=counts, unsafe=True)
        largest = largest.masked_fill(counts.eq(0).view(-1, *[1] * (h.dim() - 1)), 0)
        ctx.save_for_backward(h, largest, graph_of)
        return largest

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        h, largest, graph_of = ctx.saved_tensors
        is_largest = (h == largest.index_select(0, graph_of)).to(h.dtype)
        number = torch.zeros_like(largest).index_add_(0, graph_of, is_largest).clamp_min_(1)
        return is_largest * (grads[0] / number).index_select(0, graph_of), None, None


def _columns(examples: Sequence[Tree | Graph]) -> Ints:
    """Return the column in `edge_index` of each edge of `flatten(examples).below`."""
    parts, start = list[Ints](), 0
    for example in examples:
        if isinstance(example, Graph):
            columns = example.edge_order
        else:  # the edges of a tree are sorted by child
            columns = (np.cumsum(example.parents >= 0) - 1)[example.child_list]
        parts.append(columns + start)
        start += len(columns)
    return validate.joined(parts)


def _edge_relations(example: Tree | Graph) -> Sequence[Any] | None:
    """Return the relation of each edge, in the order of `edge_index`."""
    if isinstance(example, Graph) or example.relations is None:
        return example.relations
    return example.relations[: example.root] + example.relations[example.root + 1 :]


def _edge_feature_rows(example: Tree | Graph) -> Floats | None:
    """Return the features of each edge, in the order of `edge_index`."""
    if isinstance(example, Graph) or example.edge_features is None:
        return example.edge_features
    return np.delete(example.edge_features, example.root, axis=0)
