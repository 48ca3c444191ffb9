"""What can be drawn as a scored tree: anything with these attributes, such as the results of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from bough.draw.palette import NEUTRAL, level_of_class, sign_of_class


class Node(Protocol):
    """A phrase; `children` are places among the nodes, `word` is the place of the node's own word, if any."""

    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def text(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def probabilities(self) -> Sequence[float]: ...
    @property
    def children(self) -> Sequence[int]: ...
    @property
    def word(self) -> int | None: ...


class Scored(Protocol):
    """A text with its phrases, each tree in preorder; `roots` says where each tree begins."""

    @property
    def text(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def ordered(self) -> bool: ...
    @property
    def tokens(self) -> Sequence[str]: ...
    @property
    def nodes(self) -> Sequence[Node]: ...
    @property
    def roots(self) -> Sequence[int]: ...


def level_of(result: Scored, place: int) -> int:
    """Where on the scale of five a phrase stands; see `level_of_class`."""
    number = result.classes.index(result.nodes[place].label)
    return level_of_class(number, len(result.classes), ordered=result.ordered)


def sign_of(result: Scored, place: int) -> str:
    """What tells a phrase's class beside its colour."""
    return sign_of_class(level_of(result, place), result.nodes[place].label)


def is_marked(result: Scored, place: int) -> bool:
    """Whether a word bears the sign of its class: neutral ones do not."""
    return level_of(result, place) != NEUTRAL


def below(result: Scored, root: int, *, whole: frozenset[int] = frozenset()) -> Iterator[int]:
    """A node and all below it, in preorder; what is below a node in `whole` is left out."""
    stack = [root]
    while stack:
        place = stack.pop()
        yield place
        if place not in whole:
            stack.extend(reversed(result.nodes[place].children))
