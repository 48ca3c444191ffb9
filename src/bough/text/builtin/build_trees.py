"""Trees put together from parents and heads; long sentences cut into pieces first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.text.builtin.cky import Ints
from bough.trees.tree import Tree

Arcs = tuple[list[int], list[str]]  # per word its head, counted from 1, and its relation
_STOPS = frozenset([".", "!", "?", ";", ":", "--", "...", ",", ")", "''"])


def in_pieces(tokens: Sequence[str], longest: int) -> list[Sequence[str]]:
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


def phrase_tree(tokens: Sequence[str], pieces: Sequence[Ints]) -> Tree:
    """The binary tree of a sentence from its pieces' parents, nodes in preorder; pieces join to the right."""
    parts: list[Sequence[int] | Ints] = []
    size, above = 0, -1
    for number, piece in enumerate(pieces):
        if number < len(pieces) - 1:
            parts.append([above])
            above, size = size, size + 1
        moved = piece + size
        moved[0] = above
        parts.append(moved)
        size += len(piece)
    parents = np.concatenate(parts)
    inner = np.zeros(size, dtype=bool)
    inner[parents[1:]] = True
    words: list[str | None] = [None] * size
    for leaf, token in zip(np.flatnonzero(~inner).tolist(), tokens, strict=True):
        words[leaf] = token
    return Tree(parents, tokens=words)


def word_tree(tokens: Sequence[str], arcs: Sequence[Arcs]) -> Tree:
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
