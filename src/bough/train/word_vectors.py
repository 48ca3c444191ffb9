"""A run's word vectors: a GloVe file's, else a mean of parts, else a draw for each word."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bough.data import find_data, user_cache
from bough.data.oov import candidates, rows_for
from bough.data.vector_sets import choose, coverage
from bough.data.vectors import embedding_rows, first_vectors, load_vectors, random_rows
from bough.models.config import Config

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
