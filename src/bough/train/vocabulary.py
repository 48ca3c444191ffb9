"""The words a run learns, most frequent first, where `oov = "written"`: words as people write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from bough.data.oov import rows_for
from bough.data.vector_sets import COMPLETED
from bough.data.vectors import Vectors, load_vectors, random_rows
from bough.train.word_vectors import Rows, Words

OFTEN = 3  # times in training that a word without a vector must occur to have a row of its own


def written_vocabulary(
    words: Words, counts: Mapping[str, int], others: Iterable[str]
) -> tuple[list[str], Rows]:
    """The words and their vectors (n, X); `counts` are those of training, `others` words met elsewhere.

    A word with a vector has it. One without starts from the mean of what stands for it, else from a draw, and
    has a row of its own if it is frequent, or if no single row could stand for it.
    """
    known, rows = _with_vectors(words, Counter({**dict.fromkeys(others, 0), **counts}))
    index = {word: place for place, word in enumerate(known)}
    own: list[str] = []
    new: list[Rows] = []
    for word, count in sorted(counts.items(), key=_by_frequency):
        if word in index or "\n" in word:
            continue
        standing = rows_for(word, index, written=True)
        if count >= OFTEN or len(standing) > 1:
            own.append(word)
            new.append(rows[list(standing)].mean(axis=0) if standing else _draw(word, words, rows))
    everything, table = [*known, *own], np.concatenate([rows, *(row[None] for row in new)])
    order = sorted(range(len(everything)), key=lambda i: (-counts.get(everything[i], 0), everything[i]))
    return [everything[i] for i in order], table[order]


def with_vector(words: Words, some: Iterable[str]) -> list[str]:
    """Those of some words that have a vector of their own."""
    return _with_vectors(words, dict.fromkeys(some, 0))[0]


def vectors_of(words: Words, some: Iterable[str]) -> Rows:
    """(n, X) the vectors of words that have one."""
    return _with_vectors(words, dict.fromkeys(some, 0))[1]


def lasting(words: Words, counts: Mapping[str, int]) -> set[str]:
    """The words of training that a shipped model keeps: of a rare one without a vector, the parts stand for it."""
    return {word for word, count in counts.items() if count >= OFTEN} | {*with_vector(words, counts)}


def _with_vectors(words: Words, counts: Mapping[str, int]) -> tuple[list[str], Rows]:
    """Words that the file has, most frequent first; of others those that the completed set beside it has."""
    if words.path is None:
        raise ValueError("oov = 'written' needs word vectors; set embeddings to 'tuned' or 'fixed'")
    listed = [word for word, _ in sorted(counts.items(), key=_by_frequency)]
    first = load_vectors(words.path, listed, cache=words.cache)
    lacking = [word for word, found in zip(listed, first.found.tolist(), strict=True) if not found]
    found = _rows_by_word(first)
    beside = words.path.with_name(words.path.name.replace(".300d.", f".300d{COMPLETED}."))
    if beside != words.path and beside.is_file():
        found |= _rows_by_word(load_vectors(beside, lacking, cache=words.cache))
    kept = [word for word in listed if word in found]
    width = first.dim
    return kept, np.stack([found[word] for word in kept]) if kept else np.zeros((0, width), np.float32)


def _rows_by_word(vectors: Vectors) -> dict[str, Rows]:
    return {
        word: row
        for word, row, found in zip(vectors.words, vectors.rows, vectors.found.tolist(), strict=True)
        if found
    }


def _draw(word: str, words: Words, rows: Rows) -> Rows:
    drawn: Rows = random_rows([word], rows.shape[1], words.seed)[0]
    return drawn


def _by_frequency(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
