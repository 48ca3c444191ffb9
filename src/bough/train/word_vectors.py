"""A run's word vectors: a GloVe file's, else a mean of parts, else a draw for each word."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.data import find_data, user_cache
from bough.data.oov import candidates, rows_for
from bough.data.vector_sets import COMPLETED, ENOUGH, best_known, choose, coverage
from bough.data.vectors import Vectors, embedding_rows, first_vectors, load_vectors, random_rows
from bough.errors import DataError
from bough.models.bundled import WEIGHTS, ShippedModel
from bough.models.config import Config
from bough.models.model import Model

log = logging.getLogger(__name__)
Rows = np.ndarray[Any, np.dtype[np.float32]]


class Words:
    """Where a run's word vectors come from: a GloVe file, or a draw for each word.

    `counts` are the words of the training examples and how often each occurs.
    """

    def __init__(self, config: Config, data: Path | str | None, seed: int, counts: Mapping[str, int]) -> None:
        self.config, self.seed = config, seed
        self.path: Path | None = None
        self.name, self.coverage = "random", ""
        self.cache = user_cache() / "vectors"
        if config.encoder:
            found = Path(config.encoder)
            self.name = (
                found.name if found.name != "encoder" else found.parent.name
            )  # those of a model's folder
            self.coverage = f"encoder_freeze = {config.encoder_freeze}"
        elif config.embeddings != "random":
            self._choose(data, counts)
            log.info("%s: %s", self.name, self.coverage)

    def _choose(self, data: Path | str | None, counts: Mapping[str, int]) -> None:
        self.path = choose(find_data(data), counts, self.config.vectors, cache=self.cache)
        known = coverage(self.path, counts, cache=self.cache)
        self.name, self.coverage = known.name, str(known)

    def rows(self, words: Iterable[str]) -> Rows:
        """(n, X) a vector for each word: the file's, else U(-0.05, 0.05), a function of the word and the seed."""
        words = list(words)
        if self.path is None or not words:
            return random_rows(words, self.config.embedding_size, self.seed)
        found = load_vectors(self.path, words, cache=self.cache)
        rows = embedding_rows(found, self.seed)
        if self.config.oov != "random":
            self._guess(rows, [i for i, known in enumerate(found.found.tolist()) if not known], words)
        channels = self.config.layer_settings.get(
            "channels", 1
        )  # a layer of two channels has each vector twice in a row
        return np.tile(rows, (1, channels)) if channels > 1 else rows

    def frequent(self, most: int) -> tuple[list[str], Rows]:
        """The most frequent words that have a vector, and those: for a model that will meet other texts."""
        if self.path is None:
            return [], self.rows([])
        known = first_vectors(self.path, most, cache=self.cache)
        return list(known.words), known.rows

    def _guess(self, rows: Rows, missing: list[int], words: list[str]) -> None:
        """Give a word without a vector the mean of those that stand for it, if any has one."""
        assert self.path is not None
        known = load_vectors(self.path, sorted(candidates(words[i] for i in missing)), cache=self.cache)
        index = {word: place for place, word in enumerate(known.words) if known.found[place]}
        for i in missing:
            if standing := rows_for(words[i], index):
                rows[i] = known.rows[list(standing)].mean(axis=0)


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


SHIPPED = "shipped"  # as `vectors`: the word table of the sentiment model that comes along
SCALE = 0.3  # the shipped rows are of unit variance; GloVe's, for which the rates are set, of about this
HINT = (
    "no GloVe vectors in the data folder: the words are the shipped sentiment model's; "
    "`bough fetch glove` brings vectors of more words"
)
OTHERS = "--vectors shipped takes the words of the shipped sentiment model"


class ModelWords(Words):
    """The rows of a model's word table, by a word's parts where it has no other."""

    def __init__(
        self, config: Config, seed: int, counts: Mapping[str, int], model: Model, scale: float
    ) -> None:
        self.model, self.scale = model, scale
        super().__init__(
            config.with_settings({"embedding_size": model.config.embedding_size}), None, seed, counts
        )

    def _choose(self, data: Path | str | None, counts: Mapping[str, int]) -> None:
        ids = dict(zip(counts, self.model.ids(counts).tolist(), strict=True))
        known = [word for word, row in ids.items() if row]
        share = sum(counts[word] for word in known) / max(sum(counts.values()), 1)
        self.name = "the word table of a model"
        self.coverage = (
            f"{len(known) / max(len(counts), 1):.1%} of {len(counts):,} types, {share:.1%} of tokens"
        )

    def rows(self, words: Iterable[str]) -> Rows:
        """(n, columns) a row for each word, else a draw."""
        words = list(words)
        rows = random_rows(words, self.config.embedding_size, self.seed)
        ids = self.model.ids(words)
        known = np.flatnonzero(ids)
        rows[known] = self._vectors(ids[known])
        return rows

    def frequent(self, most: int) -> tuple[list[str], Rows]:
        """All of them: a table has no frequencies."""
        return self.model.words, self._vectors(np.arange(1, len(self.model.words) + 1))

    def _vectors(self, ids: np.ndarray[Any, np.dtype[np.int64]]) -> Rows:
        with torch.inference_mode():
            rows: Rows = (self.model.vectors(torch.from_numpy(ids)) * self.scale).numpy()
        return rows


def words_for(
    config: Config, data: Path | str | None, seed: int, counts: Mapping[str, int], start: Model | None = None
) -> Words:
    """Where a fit's vectors come from: the model it starts from, a file, or the shipped table."""
    if config.encoder:
        return Words(config, data, seed, counts)
    if start is not None:
        return ModelWords(config, seed, counts, start, 1.0)
    if config.vectors == "auto" and config.embeddings != "random":
        config = _at_hand(config, find_data(data), counts)
    if config.vectors != SHIPPED:
        return Words(config, data, seed, counts)
    return ModelWords(config, seed, counts, ShippedModel.load(WEIGHTS / "sentiment"), SCALE)


def _at_hand(config: Config, data: Path, counts: Mapping[str, int]) -> Config:
    """`auto` settled: the set that a run would take, else the one that has most words, else the shipped table."""
    cache = user_cache() / "vectors"
    try:
        return config.with_settings({"vectors": str(choose(data, counts, cache=cache))})
    except DataError:
        found = best_known(data, counts, cache=cache)
    if found is None:
        log.warning(HINT)
        return config.with_settings({"vectors": SHIPPED})
    path, known = found
    if known.share < ENOUGH:
        log.warning("%s has only %s; it is taken all the same, %s", path.name, known, OTHERS)
    return config.with_settings({"vectors": str(path)})
