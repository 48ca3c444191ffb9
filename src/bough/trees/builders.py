"""Build chains and balanced trees, which need no parse, and extract subtrees."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bough.trees.tree import Tree
from bough.trees.validate import Ints


@lru_cache(maxsize=4096)
def chain(length: int) -> Tree:
    """Return a chain: every node is the parent of the one before it, and the last one is the root."""
    return Tree([*range(1, length), -1])


@lru_cache(maxsize=4096)
def reversed_chain(tree: Tree) -> Tree:
    """Return the same chain from its root to its leaf: the parent of each node becomes its child."""
    parents = np.full(len(tree), -1)
    parents[tree.degrees > 0] = tree.child_list  # sorted by parent, and every parent has one
    return Tree(parents)


@lru_cache(maxsize=4096)
def balanced(length: int) -> Tree:
    """Return a binary tree over `length` leaves that splits them in half; the left half may be longer."""
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
    """Return the nodes of the words of a chain (all of them) or of a balanced tree (the leaves), in order."""
    return np.arange(len(tree)) if len(tree.leaves) == 1 else tree.leaves


def with_words(tree: Tree, words: Sequence[str]) -> Tree:
    """Return the tree with these tokens at its leaves, left to right."""
    tokens: list[str | None] = [None] * len(tree)
    for leaf, word in zip(tree.leaves.tolist(), words, strict=True):
        tokens[leaf] = word
    return tree.replace(tokens=tokens)


def subtree(tree: Tree, node: int) -> Tree:
    """Return the subtree of a node, which becomes the root; the nodes are in preorder."""
    below = [node]
    for one in below:
        below.extend(tree.children[one])
    start = int(np.flatnonzero(tree.preorder == node)[0])
    kept = tree.preorder[start : start + len(below)]
    new = np.full(len(tree), -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    return tree._rebuilt(np.where(kept == node, -1, new[tree.parents[kept]]), kept.tolist())
