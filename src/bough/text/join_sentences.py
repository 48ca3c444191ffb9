"""The trees of a text's sentences as one tree, and words in a row as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from bough.trees.tree import Tree

NEXT = "parataxis"  # the relation of a sentence to the text's first one


def joined(trees: Sequence[Tree], kind: Literal["constituency", "dependency"]) -> Tree:
    """One tree over the sentences of a text.

    Trees of phrases are paired, the pairs paired again, and so on: the way up grows with the logarithm of their
    number. Of dependency trees, all later roots hang from the first.
    """
    if len(trees) == 1:
        return trees[0]
    return _paired(trees) if kind == "constituency" else _in_line(trees)


def in_a_row(words: Sequence[str]) -> Tree:
    """Each word above the one before it, the last the root: what a recurrent network reads."""
    return Tree([*range(1, len(words)), -1], tokens=list(words))


def _paired(trees: Sequence[Tree]) -> Tree:
    parents: list[int] = []
    tokens: list[str | None] = []
    stack = [(0, len(trees), -1)]  # the sentences from one to another, and the node above them
    while stack:
        low, high, above = stack.pop()
        node = len(parents)
        if high - low == 1:
            tree = trees[low]
            parents += np.where(tree.parents < 0, above, tree.parents + node).tolist()
            tokens += tree.tokens or (None,) * len(tree)
            continue
        parents.append(above)
        tokens.append(None)
        middle = (low + high + 1) // 2
        stack += [(middle, high, node), (low, middle, node)]
    return Tree(parents, tokens=tokens)


def _in_line(trees: Sequence[Tree]) -> Tree:
    parents: list[int] = []
    tokens: list[str | None] = []
    relations: list[object] = []
    for tree in trees:
        top = trees[0].root if parents else -1
        own = list(tree.relations or (None,) * len(tree))
        if parents:
            own[tree.root] = NEXT
        parents += np.where(tree.parents < 0, top, tree.parents + len(parents)).tolist()
        tokens += tree.tokens or (None,) * len(tree)
        relations += own
    return Tree(parents, tokens=tokens, relations=relations)
