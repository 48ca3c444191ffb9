"""How a forest's nodes are put in order: by height from the leaves, or by depth from the roots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bough.trees.subtree_sharing import Flat, joined
from bough.trees.tree import Tree
from bough.trees.validate import Ints


class Levels(NamedTuple):
    """Units cut into levels: how many units and edges each has, and where they lie."""

    level_sizes: list[int]
    slices: tuple[tuple[int, int], ...]
    edge_sizes: list[int]
    edge_slices: list[slice]


def levels(counts: Sequence[int], degrees: Ints) -> Levels:
    """From the units of each height or depth, and each unit's number of edges."""
    sizes = list(counts)
    slices = tuple(pairwise(np.cumsum([0, *sizes]).tolist()))
    bounds = np.concatenate([[0], np.cumsum(degrees)]).tolist()
    edge_slices = [slice(bounds[start], bounds[end]) for start, end in slices]
    return Levels(sizes, slices, [part.stop - part.start for part in edge_slices], edge_slices)


class FromRoots(NamedTuple):
    """Nodes sorted by depth, each with one edge, to its parent, but for the roots, which come first."""

    node_of: Ints  # (N,)
    unit_of: Ints  # (N,)
    counts: list[int]  # nodes of each depth
    degrees: Ints  # (N,) 0 for a root, else 1
    edge_nodes: Ints  # (E,) the lower end of each edge
    neighbours: Ints  # (E,) the unit at its upper end
    places: Ints  # (E,) where the lower end stands among its siblings


def from_roots(flat: Flat) -> FromRoots:
    """The schedule of a layer that reads a node's parent."""
    parents = np.full(len(flat.degrees), -1)
    parents[flat.below] = np.repeat(np.arange(len(parents)), flat.degrees)
    rank = np.zeros_like(parents)
    rank[flat.below] = places(flat.degrees)
    depth = _depths(parents)
    node_of = np.argsort(depth, kind="stable")
    unit_of = np.empty_like(node_of)
    unit_of[node_of] = np.arange(len(node_of))
    degrees = (depth[node_of] > 0).astype(np.int64)
    below = node_of[degrees > 0]
    counts = np.bincount(depth).tolist() if len(depth) else []
    return FromRoots(node_of, unit_of, counts, degrees, below, unit_of[parents[below]], rank[below])


def _depths(parents: Ints) -> Ints:
    """(N,) edges up to the root, each step looking twice as far up as the one before."""
    found = (parents >= 0).astype(np.int64)
    above = np.where(parents >= 0, parents, np.arange(len(parents)))
    while found[above].any():
        found, above = found + found[above], above[above]
    return found


def places(degrees: Ints) -> Ints:
    """(E,) each edge's place among those of its node, for edges sorted by node."""
    ends = np.cumsum(degrees)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - degrees, degrees)


def joined_keys(keys: Sequence[Sequence[int] | Ints], sizes: Ints) -> Ints:
    """(N,) the keys of all nodes; a ValueError where they are not one int per node."""
    if len(keys) != len(sizes):
        raise ValueError(f"keys for {len(keys)} trees; the forest has {len(sizes)}")
    arrays = [np.asarray(part) for part in keys]
    for number, (part, size) in enumerate(zip(arrays, sizes.tolist(), strict=True)):
        if part.shape != (size,):
            raise ValueError(f"{part.size} keys for tree {number} of {size} nodes; give one int per node")
        if part.dtype.kind not in "iu":
            raise ValueError(f"keys of tree {number} are {part.dtype}; a key is an int")
    return joined([part.astype(np.int64, copy=False) for part in arrays])


def relation_ids(trees: Sequence[Tree], vocabulary: Mapping[Any, int] | None) -> Ints | None:
    """(N,) the id of each node's relation to its parent, -1 for none; None if a tree has no relations.

    Names need a vocabulary; without one they must be ids already.
    """
    if not trees or any(tree.relations is None for tree in trees):
        return None
    names = [name for tree in trees for name in tree.relations or ()]
    if vocabulary is not None:
        known = {None: -1, **vocabulary}
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise ValueError(f"relation {unknown!r} is not among the {len(vocabulary)} in `relations`")
        return np.array([known[name] for name in names], dtype=np.int64)
    if all(name is None or isinstance(name, int | np.integer) for name in names):
        return np.array([-1 if name is None else name for name in names], dtype=np.int64)
    return None
