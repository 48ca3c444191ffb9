"""Trees put together from spans and heads; long sentences cut into pieces first."""

from __future__ import annotations

from collections.abc import Sequence

from bough.parsing.builtin.chart import Spans
from bough.trees.tree import Tree

_STOPS = frozenset([".", "!", "?", ";", ":", "--", "...", ",", ")", "''"])


def pieces(tokens: Sequence[str], longest: int) -> list[Sequence[str]]:
    """The sentence itself, or pieces of at most `longest` words, cut after a mark in the second half if any."""
    found: list[Sequence[str]] = []
    low = 0
    while len(tokens) - low > longest:
        high = low + longest
        marks = (place for place in range(high, low + longest // 2, -1) if tokens[place - 1] in _STOPS)
        high = next(marks, high)
        found.append(tokens[low:high])
        low = high
    found.append(tokens[low:])
    return found


def phrase_tree(tokens: Sequence[str], spans: Sequence[Spans]) -> Tree:
    """The binary tree of a sentence from its pieces' spans, each in preorder; pieces join to the right."""
    parents: list[int] = []
    words: list[str | None] = []
    last: list[int] = []  # per node, where it ends
    opened: list[int] = []

    def add(end: int, word: str | None) -> None:
        while opened and last[opened[-1]] < end:
            opened.pop()
        parents.append(opened[-1] if opened else -1)
        words.append(word)
        last.append(end)
        opened.append(len(parents) - 1)

    start = 0
    for number, piece in enumerate(spans):
        if number < len(spans) - 1:
            add(len(tokens), None)
        length = piece[0][1] if piece else 1
        by_start: dict[int, list[int]] = {}
        for low, high in piece:
            by_start.setdefault(low, []).append(high)
        for place in range(length):
            for high in by_start.get(place, ()):
                add(start + high, None)
            add(start + place + 1, tokens[start + place])
            while opened and last[opened[-1]] <= start + place + 1:
                opened.pop()
        start += length
    return Tree(parents, tokens=words)


def word_tree(tokens: Sequence[str], arcs: Sequence[tuple[list[int], list[str]]]) -> Tree:
    """The dependency tree of a sentence from its pieces' heads; later roots hang from the first one."""
    parents: list[int] = []
    relations: list[str] = []
    root = -1
    for heads, names in arcs:
        start = len(parents)
        for head, name in zip(heads, names, strict=True):
            above = head - 1 + start if head else root
            if not head and root < 0:
                root = len(parents)
            elif not head:
                name = "parataxis"
            parents.append(above)
            relations.append(name)
    return Tree(parents, tokens=list(tokens), relations=relations)
