"""What all formats share: numbered lines of a path or an iterable, and trees from heads that are counted from 1."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TypeAlias, TypeVar

from bough.errors import FormatError
from bough.trees.tree import Tree

T = TypeVar("T")
Source: TypeAlias = str | os.PathLike[str] | Iterable[str] | Iterable[bytes]


def name_of(source: Source, where: str | None) -> str | None:
    """Return the name of a source in errors: `where` if given, else its path or its file's name."""
    if where is not None:
        return where
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else None


def numbered(source: Source, where: str | None, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield line numbers from `first` on, and the lines without their ends and without a BOM."""
    number = first - 1
    with ExitStack() as stack:
        lines: Iterable[str] | Iterable[bytes]
        if isinstance(source, (str, os.PathLike)):
            lines = stack.enter_context(open(source, "rb"))  # as bytes: lines end at \n only
        else:
            lines = source
        try:
            for raw in lines:
                line = raw.decode("utf-8") if isinstance(raw, bytes) else raw
                number += 1
                yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise FormatError(f"byte 0x{byte:02x} is not UTF-8", where=where, line=number + 1) from error


class HeadError(FormatError):
    """Heads that make no tree; `node` (from 1) is the one to look at."""

    def __init__(self, reason: str, node: int = 1) -> None:
        super().__init__(reason)
        self.node = node


def parents_of(heads: Sequence[int]) -> list[int]:
    """Return parents as `Tree` counts them. Raise `HeadError` for a head out of range, no root or several."""
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
    """Return the tree of `parents_of(heads)`. Raise `HeadError` for a cycle, with nodes counted from 1."""
    try:
        return Tree(parents, tokens=tokens, labels=unless_empty(labels), relations=unless_empty(relations))
    except ValueError as error:
        reason = str(error)
    try:
        Tree([-1, *(parent + 1 for parent in parents)])  # one more node in front: Tree now counts from 1
    except ValueError as error:
        reason = str(error)
    raise HeadError(reason)


def unless_empty(column: Sequence[T | None] | None) -> Sequence[T | None] | None:
    """Return the column, or None if no node has an entry."""
    return column if column is not None and any(entry is not None for entry in column) else None
