"""Equal subtrees found, exactly, in a few passes over flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.trees.tree import Tree
from bough.trees.validate import Ints

Words = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFT = (np.uint64(30), np.uint64(27), np.uint64(31))
_ONE = np.uint64(1)


class Flat(NamedTuple):
    """Many trees end to end: node v's children are `below[first[v] : first[v] + degrees[v]]`."""

    starts: Ints  # (trees + 1,)
    heights: Ints  # (N,)
    degrees: Ints  # (N,)
    first: Ints  # (N,)
    below: Ints  # (N - trees,)


def flatten(trees: Sequence[Tree]) -> Flat:
    """The trees' own arrays, joined, with nodes counted through."""
    starts = np.zeros(len(trees) + 1, dtype=np.int64)
    np.cumsum([len(tree) for tree in trees], out=starts[1:])
    heights = joined([tree.heights for tree in trees])
    degrees = joined([tree.degrees for tree in trees])
    below = joined([tree.child_list for tree in trees])
    below = below + np.repeat(starts[:-1], np.diff(starts) - 1)
    return Flat(starts, heights, degrees, np.cumsum(degrees) - degrees, below)


def joined(arrays: Sequence[Ints]) -> Ints:
    """One array of all."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])


def prepared(trees: Sequence[Tree], keys: Sequence[Ints]) -> list[Words]:
    """Each tree's digests, for `Forest(trees, keys, digests=...)`: worked out once for a whole data set."""
    flat = flatten(trees)
    return np.split(digests(flat, joined(keys), None), flat.starts[1:-1]) if len(trees) else []


def digests(flat: Flat, keys: Ints, related: Ints | None) -> Words:
    """(N,) a 64-bit hash of every subtree: its keys, its shape, and its relations where there are any."""
    if related is None and flat.degrees.max(initial=0) <= 1:
        return _chain_digests(flat, keys)
    heights, degrees, first, below = flat.heights, flat.degrees, flat.first, flat.below
    ranks = np.arange(len(below)) - np.repeat(first, degrees)
    weight = _mixed(np.arange(degrees.max(initial=0), dtype=np.uint64) + _ONE)[ranks]  # so that order counts
    if related is not None:
        weight = _mixed(weight + _mixed(related[below].astype(np.uint64)))
    weight |= _ONE
    words = _mixed(keys.astype(np.uint64) + _ODD * (degrees.astype(np.uint64) + _ONE))
    order = np.argsort(heights.astype(np.int32), kind="stable")
    bounds = np.cumsum(np.bincount(heights)).tolist()
    for start, end in pairwise(bounds):
        nodes = order[start:end]
        count = degrees[nodes]
        last = np.cumsum(count)
        edges = np.arange(last[-1]) + np.repeat(first[nodes] - (last - count), count)
        sums = np.cumsum(words[below[edges]] * weight[edges])[
            last - 1
        ]  # uint64 wraps, so differences are exact
        sums[1:] -= sums[:-1].copy()
        words[nodes] = _mixed(words[nodes] + sums)
    return words


def _chain_digests(flat: Flat, keys: Ints) -> Words:
    """Chains without a loop over levels: a running sum of the words so far, each weighted by its place."""
    sizes = np.diff(flat.starts)
    row = np.repeat(flat.starts[:-1], sizes) + flat.heights  # the node's place if words stood in order
    in_order = np.empty(len(keys), dtype=np.uint64)
    in_order[row] = _mixed(keys.astype(np.uint64) + _ODD)
    places = np.arange(len(keys)) - np.repeat(flat.starts[:-1], sizes)
    sums = np.cumsum(in_order * (_mixed(places.astype(np.uint64) + _ODD) | _ONE))
    before = np.concatenate([np.zeros(1, dtype=np.uint64), sums])[flat.starts[:-1]]
    words = _mixed(sums - np.repeat(before, sizes) + places.astype(np.uint64))
    return np.asarray(words[row])


def merged(
    flat: Flat, order: Ints, keys: Ints, related: Ints | None, words: Words | None = None
) -> tuple[Ints, Ints]:
    """Units for equal subtrees: `node_of` (U,), one node each, sorted by height; `unit_of` (N,).

    Subtrees with the same digest are candidates; every node is then held against its unit's node, key,
    relations and child units, so that a collision is an error and never a wrong state.
    """
    if words is None or related is not None:  # what was prepared knows no relations
        words = digests(flat, keys, related)
    if len(words) != len(keys):
        raise ValueError(f"digests of {len(words)} nodes; the trees have {len(keys)}")
    _, some, which = np.unique(words[order], return_index=True, return_inverse=True)
    rise = np.argsort(some)  # first met in height order, so units come out sorted by height
    place = np.empty_like(rise)
    place[rise] = np.arange(len(rise))
    node_of = order[some[rise]]
    unit_of = np.empty_like(order)
    unit_of[order] = place[which]

    degrees, first, below = flat.degrees, flat.first, flat.below
    chosen = node_of[unit_of]
    if np.array_equal(keys, keys[chosen]) and np.array_equal(degrees, degrees[chosen]):
        twin = below[np.arange(len(below)) - np.repeat(first - first[chosen], degrees)]
        if np.array_equal(unit_of[below], unit_of[twin]) and (
            related is None or np.array_equal(related[below], related[twin])
        ):
            return node_of, unit_of
    raise RuntimeError("two different subtrees have one digest; build this forest without keys")


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> _SHIFT[0])) * _MIX[0]
    words = (words ^ (words >> _SHIFT[1])) * _MIX[1]
    return words ^ (words >> _SHIFT[2])
