"""Another parser's labelled trees as what bough's parsers give: binary, without labels."""

from __future__ import annotations

from collections.abc import Sequence

from bough.errors import FormatError
from bough.text.binarise import binarise
from bough.trees.tree import Tree


def binary_phrases(tree: Tree, words: Sequence[str], parser: str) -> Tree:
    """The tree built outwards from its heads, with exactly the words that were given to the `parser`.

    Parsers escape brackets and quotes in their own ways; the words given are the ones that count.
    """
    binary = binarise(tree)
    if len(binary.leaves) != len(words):
        raise FormatError(
            f"{parser} has {len(binary.leaves)} words in the tree of a sentence of {len(words)}, "
            f"{' '.join(words)[:60]!r}; it must take the words as they are given"
        )
    tokens: list[str | None] = [None] * len(binary)
    for leaf, word in zip(binary.leaves.tolist(), words, strict=True):
        tokens[leaf] = word
    return Tree(binary.parents, tokens=tokens)
