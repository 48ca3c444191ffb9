"""Trees of words without a parse, chains and halves, and a part of a tree as one of its own."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bough.trees.tree import Tree
from bough.trees.validate import Ints


@lru_cache(maxsize=4096)
def chain(length: int) -> Tree:
    """Words in a row: each the parent of the one before, the last one the root."""
    return Tree([*range(1, length), -1])


def reversed_chain(tree: Tree) -> Tree:
    """A chain read from its other end."""
    return _from_the_end(len(tree)) if tree is chain(len(tree)) else _turned(tree)


@lru_cache(maxsize=4096)
def _from_the_end(length: int) -> Tree:
    return _turned(chain(length))


def _turned(tree: Tree) -> Tree:
    parents = np.full(len(tree), -1)
    parents[tree.degrees > 0] = tree.child_list  # sorted by parent, and every parent has one
    return Tree(parents)


@lru_cache(maxsize=4096)
def balanced(length: int) -> Tree:
    """Words at the leaves of a binary tree that halves them, and halves the halves; the left half may be longer."""
    if length < 1:
        raise ValueError(f"{length} words; a tree has at least one")
    parents: list[int] = []
    waiting = [(-1, length)]
    while waiting:  # in preorder
        above, words = waiting.pop()
        if words > 1:
            waiting += [(len(parents), words // 2), (len(parents), words - words // 2)]
        parents.append(above)
    return Tree(parents)


def word_nodes(tree: Tree) -> Ints:
    """Which nodes of such a tree the words are, in their order: all of a chain, else the leaves."""
    return np.arange(len(tree)) if len(tree.leaves) == 1 else tree.leaves


def subtree(tree: Tree, node: int) -> Tree:
    """What is below a node, with it as the root and the nodes in preorder."""
    order = [node]
    for one in order:
        order.extend(tree.children[one])
    inside = np.zeros(len(tree), dtype=bool)
    inside[order] = True
    kept = tree.preorder[inside[tree.preorder]]
    new = np.full(len(tree), -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    return tree._rebuilt(np.where(kept == node, -1, new[tree.parents[kept]]), kept.tolist())
