"""Equal subtrees found, exactly, in a few passes over flat arrays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bough.wellformed import Ints

Words = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFT = (np.uint64(30), np.uint64(27), np.uint64(31))


def merged(
    order: Ints, heights: Ints, degrees: Ints, first: Ints, below: Ints, keys: Ints, related: Ints | None
) -> tuple[Ints, Ints]:
    """Units for equal subtrees: `node_of` (U,), one node each, sorted by height; `unit_of` (N,).

    Subtrees are compared by a 64-bit hash, level by level; a second pass then holds every node against its
    unit's node, key, relations and child units, so a collision is an error and never a wrong state.
    """
    edge_words = _mixed(np.arange(degrees.max(initial=0), dtype=np.uint64) + np.uint64(1)) | np.uint64(1)
    rank = np.arange(len(below)) - np.repeat(first, degrees)
    weight = edge_words[rank]  # by position, so that order counts
    if related is not None:
        weight = _mixed(weight + _mixed(related[below].astype(np.uint64))) | np.uint64(1)
    words = _mixed(keys.astype(np.uint64) + _ODD * (degrees.astype(np.uint64) + np.uint64(1)))
    bounds = np.cumsum(np.bincount(heights)).tolist() if len(order) else []
    for start, end in pairwise(bounds):
        nodes = order[start:end]
        count = degrees[nodes]
        last = np.cumsum(count)
        edges = np.arange(last[-1]) + np.repeat(first[nodes] - (last - count), count)
        sums = np.cumsum(words[below[edges]] * weight[edges])  # uint64 wraps, so differences are exact
        sums = sums[last - 1]
        sums[1:] -= sums[:-1].copy()
        words[nodes] = _mixed(words[nodes] + sums)

    _, some, which = np.unique(words[order], return_index=True, return_inverse=True)
    rise = np.argsort(some)  # first met in height order, so units come out sorted by height
    place = np.empty_like(rise)
    place[rise] = np.arange(len(rise))
    node_of = order[some[rise]]
    unit_of = np.empty_like(order)
    unit_of[order] = place[which]

    chosen = node_of[unit_of]
    same = (keys == keys[chosen]) & (degrees == degrees[chosen])
    if bool(same.all()):
        twin = below[np.arange(len(below)) - np.repeat(first - first[chosen], degrees)]
        agree = unit_of[below] == unit_of[twin]
        if related is not None:
            agree &= related[below] == related[twin]
        if bool(agree.all()):
            return node_of, unit_of
    raise RuntimeError("two different subtrees share a 64-bit hash; build this forest without keys")


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> _SHIFT[0])) * _MIX[0]
    words = (words ^ (words >> _SHIFT[1])) * _MIX[1]
    return words ^ (words >> _SHIFT[2])
