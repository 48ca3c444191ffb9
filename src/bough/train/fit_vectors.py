"""Word vectors for a fit: a file's where there is one, else the table of a model that comes along."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.data import find_data, user_cache
from bough.data.vector_sets import ENOUGH, best_known, choose
from bough.data.vectors import random_rows
from bough.errors import DataError
from bough.models.bundled import WEIGHTS, ShippedModel
from bough.models.config import Config
from bough.models.model import Model
from bough.train.word_vectors import Rows, Words

log = logging.getLogger(__name__)
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
