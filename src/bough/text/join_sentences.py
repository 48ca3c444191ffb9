"""Check and split sentences before they are parsed, and join the trees of sentences into one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from bough.errors import FormatError
from bough.trees.tree import Tree

Kind = Literal["constituency", "dependency"]
_STOPS = frozenset([".", "!", "?", ";", ":", "--", "...", ",", ")", "''"])


def check_sentences(sentences: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Yield the sentences. Raise a ValueError with the index of one that a parser cannot take."""
    for index, words in enumerate(sentences):
        if isinstance(words, str):
            raise ValueError(f"sentence {index} is text, {words[:40]!r}; a parser takes lists of words")
        if not words:
            raise ValueError(f"sentence {index} is empty; a tree has at least one word")
        for number, word in enumerate(words):
            if not word.strip():
                raise ValueError(f"sentence {index}: word {number} is {word!r}; a word has letters or signs")
        yield words


def check_word_count(count: int, words: Sequence[str], parser: str) -> None:
    """Raise a FormatError if another parser returned a sentence with another number of words."""
    if count != len(words):
        made = f"{parser} made {count} words of a sentence of {len(words)}, {' '.join(words)[:60]!r}"
        raise FormatError(f"{made}; it must take the words as they are given")


def split_long(tokens: Sequence[str], longest: int) -> list[Sequence[str]]:
    """Return pieces of at most `longest` words, split after punctuation where there is some."""
    pieces: list[Sequence[str]] = []
    low = 0
    while len(tokens) - low > longest:
        high = low + longest
        stops = (end for end in range(high, low + longest // 2, -1) if tokens[end - 1] in _STOPS)
        high = next(stops, high)
        pieces.append(tokens[low:high])
        low = high
    return [*pieces, tokens[low:]]


def join_sentences(trees: Sequence[Tree], kind: Kind, *, balanced: bool = True) -> Tree:
    """Return one tree over the trees of a text's sentences.

    The root of every later dependency tree becomes a child of the first tree's root, by the
    relation `parataxis`. Phrase trees become the leaves of a balanced binary tree, so that the
    depth grows with the logarithm of their number; with `balanced=False`, of a tree that branches
    to the right.
    """
    if len(trees) == 1:
        return trees[0]
    parents: list[int] = []
    tokens: list[str | None] = []
    if kind == "dependency":
        relations: list[object] = []
        for tree in trees:
            names = list(tree.relations or (None,) * len(tree))
            if parents:
                names[tree.root] = "parataxis"
            above = trees[0].root if parents else -1
            parents += np.where(tree.parents < 0, above, tree.parents + len(parents)).tolist()
            tokens += tree.tokens or (None,) * len(tree)
            relations += names
        return Tree(parents, tokens=tokens, relations=relations)
    stack = [(0, len(trees), -1)]  # the trees from `low` to `high`, and the node above them
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
        middle = (low + high + 1) // 2 if balanced else low + 1
        stack += [(middle, high, node), (low, middle, node)]
    return Tree(parents, tokens=tokens)


def chain_of_words(words: Sequence[str]) -> Tree:
    """Return the chain of a recurrent network: each word is the parent of the one before it."""
    return Tree([*range(1, len(words)), -1], tokens=list(words))
