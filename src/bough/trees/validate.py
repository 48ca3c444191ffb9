"""What makes a list of parents a tree; every error says which node, and what a tree has instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
T = TypeVar("T")


def checked_parents(parents: Sequence[int] | Ints) -> Ints:
    given = np.asarray(parents)
    if given.ndim != 1:
        raise ValueError(f"parents has {given.ndim} dimensions; it is one list of ints")
    if len(given) == 0:
        raise ValueError("an empty tree; a tree has at least one node")
    if given.dtype.kind not in "iu":
        raise ValueError(f"parents are {given.dtype}; they are ints, -1 for the root")
    array = given.astype(np.int64)
    outside = np.flatnonzero((array < -1) | (array >= len(array)))
    if len(outside):
        node = int(outside[0])
        raise ValueError(
            f"node {node} has parent {array[node]}; parents are -1 (the root) or 0..{len(array) - 1}"
        )
    roots = np.flatnonzero(array < 0)
    if len(roots) == 0:
        raise ValueError("no root; exactly one parent is -1")
    if len(roots) > 1:
        shown = " and ".join(map(str, roots[:2])) + (", ..." if len(roots) > 2 else "")
        raise ValueError(f"{len(roots)} roots (nodes {shown}); a tree has one")
    return frozen(array)


def parents_first(parents: Ints) -> bool:
    """Whether every parent has a smaller index than its children, as in preorder."""
    return bool((parents < np.arange(len(parents))).all())


def upwards(parents: Ints) -> Iterable[int]:
    """Every node after its children; a ValueError if there is a cycle."""
    if parents_first(parents):
        return range(len(parents) - 1, -1, -1)
    above = parents.tolist()
    waiting = np.bincount(parents[parents >= 0], minlength=len(above)).tolist()
    ready = [node for node, count in enumerate(waiting) if count == 0]
    for node in ready:  # grows while it is walked: a node is ready once all its children are
        parent = above[node]
        if parent >= 0:
            waiting[parent] -= 1
            if waiting[parent] == 0:
                ready.append(parent)
    if len(ready) < len(above):
        stuck = next(node for node, count in enumerate(waiting) if count > 0)
        cycle = cycle_from(above, stuck)
        raise ValueError(f"a cycle ({' -> '.join(cycle)}); following parents must end at the root")
    return ready


def column(name: str, values: Sequence[T] | None, n: int) -> tuple[T, ...] | None:
    if values is None:
        return None
    if len(values) != n:
        raise ValueError(f"{len(values)} {name} for {n} nodes; give one per node, None where it has none")
    return tuple(values)


def cycle_from(parents: list[int], node: int) -> list[str]:
    seen: dict[int, None] = {}
    while node not in seen:
        seen[node] = None
        node = parents[node]
    walk = list(seen)
    cycle = [*walk[walk.index(node) :], node]
    return [str(step) for step in cycle] if len(cycle) <= 7 else [*map(str, cycle[:6]), "...", str(node)]


def frozen(array: Ints) -> Ints:
    array.setflags(write=False)
    return array
