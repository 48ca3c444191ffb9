"""Trees as one line of text, for anything with the attributes of `bough.Tree`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol


class Structure(Protocol):
    """A tree whose columns, where it has them, hold one entry per node; `parents` and `preorder` are arrays."""

    @property
    def parents(self) -> Any: ...
    @property
    def root(self) -> int: ...
    @property
    def children(self) -> Sequence[Sequence[int]]: ...
    @property
    def preorder(self) -> Any: ...
    @property
    def tokens(self) -> Sequence[Any] | None: ...
    @property
    def labels(self) -> Sequence[Any] | None: ...
    @property
    def relations(self) -> Sequence[Any] | None: ...


def name_of(tree: Structure, node: int) -> str:
    """A node's label and token; of a leaf that has neither its number."""
    parts = [column[node] for column in (tree.labels, tree.tokens) if column is not None]
    named = ":".join(str(part) for part in parts if part is not None)
    return named or ("·" if tree.children[node] else str(node))


def sketch(tree: Structure, limit: int) -> str:
    """The tree in brackets on one line, cut after `limit` characters."""
    text = ""
    for piece in _pieces(tree):
        text += piece
        if len(text) > limit:
            return text[: limit - 1] + "…"
    return text


def _pieces(tree: Structure) -> Iterator[str]:
    stack: list[int | None] = [tree.root]
    first = True
    while stack:
        node = stack.pop()
        if node is None:
            yield ")"
            continue
        below = tree.children[node]
        yield ("" if first else " ") + ("(" if below else "") + name_of(tree, node)
        first = False
        if below:
            stack.append(None)
            stack.extend(reversed(below))
