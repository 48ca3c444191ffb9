"""Find the equal subtrees of many trees, in a few passes over flat arrays."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.trees.graph import Graph
from bough.trees.tree import Tree
from bough.trees.validate import Ints, inverse, joined

Digests = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFT = (np.uint64(30), np.uint64(27), np.uint64(31))
_ONE = np.uint64(1)


class Flat(NamedTuple):
    """Arrays of many trees: the children of node v are `below[first[v] : first[v] + degrees[v]]`."""

    starts: Ints  # (trees + 1,)
    heights: Ints  # (N,)
    degrees: Ints  # (N,)
    first: Ints  # (N,)
    below: Ints  # (E,)

    @property
    def places(self) -> Ints:
        """(E,) the position of each node of `below` among its siblings."""
        return np.arange(len(self.below)) - np.repeat(self.first, self.degrees)


def flatten(trees: Sequence[Tree | Graph]) -> Flat:
    """Return the concatenated arrays of all trees or graphs, with the nodes numbered consecutively."""
    starts = np.zeros(len(trees) + 1, dtype=np.int64)
    np.cumsum([len(tree) for tree in trees], out=starts[1:])
    heights, degrees = joined([tree.heights for tree in trees]), joined([tree.degrees for tree in trees])
    edges = [len(tree.child_list) for tree in trees]
    below = joined([tree.child_list for tree in trees]) + np.repeat(starts[:-1], edges)
    return Flat(starts, heights, degrees, np.cumsum(degrees) - degrees, below)


def prepared(trees: Sequence[Tree | Graph], keys: Sequence[Ints]) -> list[Digests]:
    """Return the digests of each tree for `Forest(trees, keys, digests=...)`, to compute them once per data set."""
    flat = flatten(trees)
    return np.split(digests(flat, joined(keys), None), flat.starts[1:-1]) if len(trees) else []


def digests(flat: Flat, keys: Ints, related: Ints | None) -> Digests:
    """Return a 64-bit hash of every subtree (N,), from its keys, its shape and, if given, its relations (E,)."""
    if related is None and flat.degrees.max(initial=0) <= 1:
        return _chain_digests(flat, keys)
    heights, degrees, first, below = flat.heights, flat.degrees, flat.first, flat.below
    # a weight for each position among siblings, since their order matters
    weight = _mixed(np.arange(degrees.max(initial=0), dtype=np.uint64) + _ONE)[flat.places]
    if related is not None:
        weight = _mixed(weight + _mixed(related.astype(np.uint64)))
    # odd, so that a product modulo 2**64 loses no information
    weight |= _ONE
    words = _mixed(keys.astype(np.uint64) + _ODD * (degrees.astype(np.uint64) + _ONE))
    order = np.argsort(heights.astype(np.int32), kind="stable")
    bounds = np.cumsum(np.bincount(heights)).tolist()
    for start, end in pairwise(bounds):
        nodes = order[start:end]
        count = degrees[nodes]
        last = np.cumsum(count)
        edges = np.arange(last[-1]) + np.repeat(first[nodes] - (last - count), count)
        # uint64 wraps, so differences are exact
        sums = np.cumsum(words[below[edges]] * weight[edges])[last - 1]
        sums[1:] -= sums[:-1].copy()
        words[nodes] = _mixed(words[nodes] + sums)
    return words


def _chain_digests(flat: Flat, keys: Ints) -> Digests:
    """Return the digests of chains without a loop over levels.

    A digest is the running sum of the hashed keys, each weighted by its position in the chain.
    """
    sizes = np.diff(flat.starts)
    # the position of each node if its chain were stored from the leaf on
    row = np.repeat(flat.starts[:-1], sizes) + flat.heights
    in_order = np.empty(len(keys), dtype=np.uint64)
    in_order[row] = _mixed(keys.astype(np.uint64) + _ODD)
    places = np.arange(len(keys)) - np.repeat(flat.starts[:-1], sizes)
    sums = np.cumsum(in_order * (_mixed(places.astype(np.uint64) + _ODD) | _ONE))
    before = np.concatenate([np.zeros(1, dtype=np.uint64), sums])[flat.starts[:-1]]
    words = _mixed(sums - np.repeat(before, sizes) + places.astype(np.uint64))
    return np.asarray(words[row])


def merged(
    flat: Flat, order: Ints, keys: Ints, related: Ints | None, words: Digests | None = None
) -> tuple[Ints, Ints]:
    """Merge equal subtrees. Return `node_of` (U,), a node for each unique one, sorted by height, and `unique_of` (N,).

    Subtrees with the same digest are merged. Then every node is compared with the node that
    represents it, by key, relations and children, so that a collision of digests raises a
    RuntimeError and never gives a wrong state.

    Args:
        flat: the trees.
        order: (N,) the nodes sorted by height.
        keys: (N,) equal keys mean equal inputs.
        related: (E,) the relation of each edge of `flat.below`, or None.
        words: (N,) the digests, if they are known.
    """
    if words is None or related is not None:  # prepared digests do not include relations
        words = digests(flat, keys, related)
    if len(words) != len(keys):
        raise ValueError(f"digests of {len(words)} nodes; the trees have {len(keys)}")
    _, some, which = np.unique(words[order], return_index=True, return_inverse=True)
    rise = np.argsort(some)  # by first occurrence in `order`, so that unique nodes are sorted by height
    node_of = order[some[rise]]
    unique_of = np.empty_like(order)
    unique_of[order] = inverse(rise)[which]

    degrees, first, below = flat.degrees, flat.first, flat.below
    chosen = node_of[unique_of]
    if np.array_equal(keys, keys[chosen]) and np.array_equal(degrees, degrees[chosen]):
        # (E,) the same edge of the representative
        twin = np.arange(len(below)) - np.repeat(first - first[chosen], degrees)
        same_relations = related is None or np.array_equal(related, related[twin])
        if same_relations and np.array_equal(unique_of[below], unique_of[below[twin]]):
            return node_of, unique_of
    raise RuntimeError("two different subtrees have one digest; build this forest without keys")


def _mixed(words: Digests) -> Digests:
    words = (words ^ (words >> _SHIFT[0])) * _MIX[0]
    words = (words ^ (words >> _SHIFT[1])) * _MIX[1]
    return words ^ (words >> _SHIFT[2])
