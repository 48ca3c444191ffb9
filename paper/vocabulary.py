"""Choose the vocabulary for `oov = "written"`: words with a vector, and frequent words without."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bough.data.oov import rows_for
from bough.data.vector_sets import COMPLETED
from bough.data.vectors import load_vectors, random_rows
from bough.train.word_vectors import Words

Rows = np.ndarray[Any, np.dtype[np.float32]]
OFTEN = 3  # a word without a vector gets a row if it occurs so often in training


def written_vocabulary(
    words: Words, counts: Mapping[str, int], others: Iterable[str]
) -> tuple[list[str], Rows]:
    """Return the words and their vectors (n, X), given the counts of the words of training, and words of other splits.

    Every word with a vector is in the vocabulary. A word of training without a vector is too if it
    occurs at least `OFTEN` times, or if several vectors replace it. Its row starts as their mean,
    or at random if there is none.
    """
    known, rows = with_vectors(words, Counter({**dict.fromkeys(others, 0), **counts}))
    index = {word: place for place, word in enumerate(known)}
    own: list[str] = []
    new: list[Rows] = []
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if word in index or "\n" in word:
            continue
        replacing = list(rows_for(word, index, written=True))
        if count >= OFTEN or len(replacing) > 1:
            own.append(word)
            drawn = random_rows([word], rows.shape[1], words.seed)
            new.append(rows[replacing].mean(axis=0, keepdims=True) if replacing else drawn)
    everything, table = [*known, *own], np.concatenate([rows, *new])
    order = sorted(range(len(everything)), key=lambda i: (-counts.get(everything[i], 0), everything[i]))
    return [everything[i] for i in order], table[order]


def lasting(words: Words, counts: Mapping[str, int]) -> set[str]:
    """Return the words of training that a bundled model keeps; their parts replace others."""
    return {word for word, count in counts.items() if count >= OFTEN} | {*with_vectors(words, counts)[0]}


def with_vectors(words: Words, counts: Mapping[str, int]) -> tuple[list[str], Rows]:
    """Return those of the words that have a vector, most frequent first, and the vectors (n, X).

    A vector comes from the file, else from the completed set in the same folder.
    """
    if words.path is None:
        raise ValueError("oov = 'written' needs word vectors; set embeddings to 'tuned' or 'fixed'")
    listed = sorted(counts, key=lambda word: (-counts[word], word))
    completed = words.path.with_name(words.path.name.replace(".300d.", f".300d{COMPLETED}."))
    found: dict[str, Rows] = {}
    for path in dict.fromkeys((words.path, completed)):
        if path == words.path or path.is_file():
            vectors = load_vectors(path, [word for word in listed if word not in found], cache=words.cache)
            rows = zip(vectors.words, vectors.rows, vectors.found.tolist(), strict=True)
            found |= {word: row for word, row, known in rows if known}
    kept = [word for word in listed if word in found]
    return kept, np.stack([found[word] for word in kept]) if kept else np.zeros((0, vectors.dim), np.float32)
