"""The word vectors of a run: from a GloVe file, from the word table of another model, or random."""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.data import find_data, user_cache
from bough.data.oov import candidates, rows_for
from bough.data.vector_sets import ENOUGH, best_known, choose, coverage
from bough.data.vectors import embedding_rows, first_vectors, load_vectors, random_rows
from bough.errors import DataError
from bough.models.bundled import WEIGHTS, BundledModel
from bough.models.config import Config
from bough.models.model import Model

log = logging.getLogger(__name__)
Rows = np.ndarray[Any, np.dtype[np.float32]]


class Words:
    """The source of the word vectors of a run: a GloVe file, or random vectors.

    Args:
        config: says which vectors are used.
        data: the data folder; see `bough.data.find_data`.
        seed: the seed of random vectors.
        counts: the words of the training examples, and how often each occurs.
    """

    def __init__(self, config: Config, data: Path | str | None, seed: int, counts: Mapping[str, int]) -> None:
        self.config, self.seed = config, seed
        self.path: Path | None = None
        self.name, self.coverage = "random", ""
        self.cache = user_cache() / "vectors"
        if config.encoder:
            found = Path(config.encoder)
            # in the folder of a model, `encoder` is the folder of its encoder; show the model's name
            self.name = found.name if found.name != "encoder" else found.parent.name
            self.coverage = f"encoder_freeze = {config.encoder_freeze}"
        elif config.embeddings != "random":
            self.path = choose(find_data(data), counts, config.vectors, cache=self.cache)
            known = coverage(self.path, counts, cache=self.cache)
            self.name, self.coverage = known.name, str(known)
            log.info("%s: %s", self.name, self.coverage)

    def rows(self, words: Iterable[str]) -> Rows:
        """Return (n, X) the vector of each word in the file; for others, random numbers that depend on word and seed.

        Unless `oov = "random"`, a word without a vector has the mean of the vectors of its parts, if there are some.
        """
        words = list(words)
        if self.path is None or not words:
            return random_rows(words, self.config.embedding_size, self.seed)
        found = load_vectors(self.path, words, cache=self.cache)
        rows = embedding_rows(found, self.seed)
        if self.config.oov != "random":
            missing = np.flatnonzero(~found.found).tolist()
            parts = sorted(candidates(words[i] for i in missing))
            known = load_vectors(self.path, parts, cache=self.cache)
            index = {word: row for row, word in enumerate(known.words) if known.found[row]}
            for i in missing:
                if part_rows := rows_for(words[i], index):
                    rows[i] = known.rows[list(part_rows)].mean(axis=0)
        # a layer with two channels reads each vector twice in one row
        channels = self.config.layer_settings.get("channels", 1)
        return np.tile(rows, (1, channels)) if channels > 1 else rows

    def frequent(self, most: int) -> tuple[list[str], Rows]:
        """Return the most frequent words of the file and their vectors, for other texts."""
        if self.path is None:
            return [], self.rows([])
        known = first_vectors(self.path, most, cache=self.cache)
        return list(known.words), known.rows


BUNDLED = "bundled"  # a value of `vectors`: the word table of the bundled sentiment model
# the standard deviation of GloVe's rows, which the learning rates suit; bundled rows have 1
SCALE = 0.3


class ModelWords(Words):
    """The word table of a model as the source of word vectors, multiplied by `scale`."""

    def __init__(self, name: str, seed: int, counts: Mapping[str, int], model: Model, scale: float) -> None:
        self.name, self.seed, self.model, self.scale = name, seed, model, scale
        known = [word for word, row in zip(counts, model.ids(counts), strict=True) if row]
        types = len(known) / max(len(counts), 1)
        tokens = sum(counts[word] for word in known) / max(sum(counts.values()), 1)
        self.coverage = f"{types:.1%} of {len(counts):,} types, {tokens:.1%} of tokens"
        log.info("%s: %s", self.name, self.coverage)

    def rows(self, words: Iterable[str]) -> Rows:
        """Return (n, X) the row of each word of the model, and random numbers for other words."""
        words = list(words)
        rows = random_rows(words, self.model.config.embedding_size, self.seed)
        ids = self.model.ids(words)
        known = np.flatnonzero(ids)
        rows[known] = self._vectors(ids[known])
        return rows

    def frequent(self, most: int) -> tuple[list[str], Rows]:
        """Return all words of the model and their rows."""
        return self.model.words, self._vectors(np.arange(1, len(self.model.words) + 1))

    def _vectors(self, ids: np.ndarray[Any, np.dtype[np.int64]]) -> Rows:
        with torch.inference_mode():
            rows: Rows = (self.model.vectors(torch.from_numpy(ids)) * self.scale).numpy()
        return rows


def words_for(
    config: Config, data: Path | str | None, seed: int, counts: Mapping[str, int], start: Model | None = None
) -> Words:
    """Return the source of the word vectors of a fit.

    It is the model `start` if given, else the file that `config.vectors` names. "auto" stands for a
    GloVe set in the data folder, if possible one that covers enough words; without any set, for the
    bundled sentiment model.
    """
    if config.encoder:
        return Words(config, data, seed, counts)
    if start is not None:
        return ModelWords("the words of the model it starts from", seed, counts, start, 1.0)
    if config.embeddings == "random":
        return Words(config, data, seed, counts)
    vectors = _chosen_set(find_data(data), counts) if config.vectors == "auto" else config.vectors
    if vectors != BUNDLED:
        return Words(config.with_settings({"vectors": vectors}), data, seed, counts)
    bundled = BundledModel.load(WEIGHTS / "sentiment")
    return ModelWords("the words of the bundled sentiment model", seed, counts, bundled, SCALE)


def _chosen_set(data: Path, counts: Mapping[str, int]) -> str:
    """Return the path of a set that covers enough words, else of the one that covers most, else "bundled"."""
    cache = user_cache() / "vectors"
    try:
        return str(choose(data, counts, cache=cache))
    except DataError:
        best = best_known(data, counts, cache=cache)
    if best is None:
        message = "no GloVe vectors in the data folder: the words are the bundled sentiment model's; %s"
        log.warning(message, "run `bough fetch glove` for a larger vocabulary")
        return BUNDLED
    path, known = best
    if known.share < ENOUGH:
        message = "%s has only %s and is used anyway; for the bundled model's words set vectors to 'bundled'"
        log.warning(message, path.name, known)
    return str(path)
