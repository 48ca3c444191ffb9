"""Heads as files count them: nodes from 1, and 0 for the root's head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from bough.errors import FormatError
from bough.trees.tree import Tree

T = TypeVar("T")


class HeadError(FormatError):
    """Heads that make no tree; `node` (from 1) is the one to look at."""

    def __init__(self, reason: str, node: int = 1) -> None:
        super().__init__(reason)
        self.node = node


def parents_of(heads: Sequence[int]) -> list[int]:
    """Parents as `Tree` counts them; a head out of range, no root or several raise `HeadError`."""
    n = len(heads)
    for node, head in enumerate(heads, start=1):
        if not 0 <= head <= n:
            raise HeadError(f"node {node} has head {head}; heads are 0 (the root) or 1..{n}", node)
    roots = [node for node, head in enumerate(heads, start=1) if head == 0]
    if not roots:
        raise HeadError("no root; exactly one head is 0")
    if len(roots) > 1:
        shown = " and ".join(map(str, roots[:2])) + (", ..." if len(roots) > 2 else "")
        raise HeadError(f"{len(roots)} roots (nodes {shown}); a tree has one", roots[1])
    return [head - 1 for head in heads]


def tree_of(
    parents: Sequence[int],
    tokens: Sequence[str | None] | None = None,
    relations: Sequence[str | None] | None = None,
    labels: Sequence[str | None] | None = None,
) -> Tree:
    """The tree of `parents_of(heads)`; a cycle raises `HeadError`."""
    try:
        return Tree(
            parents,
            tokens=tokens,
            labels=None if labels is None else unless_empty(labels),
            relations=None if relations is None else unless_empty(relations),
        )
    except ValueError as error:
        raise HeadError(_counted_from_one(parents) or str(error)) from error


def unless_empty(column: Sequence[T | None]) -> Sequence[T | None] | None:
    """The column, or None where no node has an entry."""
    return column if any(entry is not None for entry in column) else None


def _counted_from_one(parents: Sequence[int]) -> str | None:
    try:
        Tree([-1, *(parent + 1 for parent in parents)])  # one more node in front: Tree now counts from 1
    except ValueError as error:
        return str(error)
    return None
