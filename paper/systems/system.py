"""A feature system: a list of measures of two sentences, and a learner of their relatedness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from bough.data import find_data
from bough.data.vector_sets import choose
from bough.errors import FormatError
from bough.files import read_json, read_tensors, write_json, write_tensors
from paper.sick import Pair
from paper.systems.sentence import Floats, Frequencies, Preparation, Prepared


class Regressor(Protocol):
    """What scikit-learn calls a regressor."""

    def fit(self, x: Floats, y: Floats) -> Any:
        """Learn from rows of measures (n, k) and their ratings (n,)."""

    def predict(self, x: Floats) -> Floats:
        """(m,) for rows (m, k)."""


Measure = Callable[[Prepared], float | list[float]]
ABOUT, NUMBERS = "system.json", "measures.safetensors"
FORMAT = 1


@dataclass(frozen=True, eq=False)
class System:
    """One feature system: what it is, what it measures, how it learns, and how it differs from the original.

    Examples:
        >>> from paper.systems import SYSTEMS
        >>> sorted(SYSTEMS)
        ['ecnu', 'illinois-lh', 'meaning-factory', 'unal-nlp']
        >>> len(SYSTEMS["ecnu"].differences) > 0
        True
    """

    name: str
    about: str
    measures: tuple[Measure, ...]
    learner: Callable[[int], Regressor] = field(repr=False)
    differences: tuple[str, ...]

    def fit(
        self,
        pairs: Sequence[Pair],
        ratings: Sequence[float],
        seed: int,
        *,
        data: Path | str | None = None,
        vectors: str | Path = "auto",
    ) -> Fitted:
        """Learn from pairs of dependency trees and their ratings, from 1 up.

        WordNet and GloVe are looked for below `data`; `vectors` is a set, a file, or `auto`, as in
        `bough.data.vector_sets.choose`.
        """
        if not pairs or len(pairs) != len(ratings):
            raise ValueError(
                f"{len(pairs):,} pairs and {len(ratings):,} ratings; give one rating per pair, and at least one pair"
            )
        prepare = preparation(find_data(data))
        frequencies = prepare.frequencies(pairs)
        path = choose(prepare.data, prepare.counts(pairs), vectors)
        rows = self.rows(prepare(pairs, frequencies, path))
        return Fitted(self, rows, np.array(ratings, dtype=np.float64), seed, frequencies, prepare, path)

    def load(
        self, folder: Path | str, *, data: Path | str | None = None, vectors: Path | None = None
    ) -> Fitted:
        """What `Fitted.save` wrote; the vectors' file is the one of that name below `data`, unless given."""
        folder = Path(folder)
        about = read_json(folder / ABOUT)
        if about.get("format") != FORMAT or about.get("system") != self.name:
            found = f"format {about.get('format')!r} of {about.get('system')!r}"
            raise FormatError(f"{found}; this is format {FORMAT} of {self.name!r}", where=str(folder / ABOUT))
        numbers = read_tensors(folder / NUMBERS)
        prepare = preparation(find_data(data))
        frequencies = Frequencies(about["frequencies"], about["sentences"])
        return Fitted(
            self, numbers["measures"].numpy(), numbers["ratings"].numpy(), about["seed"], frequencies, prepare,
            vectors or prepare.data / "glove" / about["vectors"],
        )  # fmt: skip

    def rows(self, pairs: Sequence[Prepared]) -> Floats:
        """(pairs, measures) every number that the measures give."""
        return np.array([np.hstack([measure(pair) for measure in self.measures]) for pair in pairs])


@dataclass(frozen=True, eq=False)
class Fitted:
    """A system and the pairs it has learned from, as measures; the learner is trained when it is first used.

    So a saved system holds numbers and no code: it is trained again, to the same result, after loading.

    Examples:
        >>> from paper.sick import load_sick
        >>> from paper.systems import SYSTEMS
        >>> pairs = load_sick(None, "train")  # doctest: +SKIP
        >>> fitted = SYSTEMS["ecnu"].fit(pairs, [pair.score for pair in pairs], seed=1)  # doctest: +SKIP
        >>> fitted.predict(load_sick(None, "dev")).shape  # doctest: +SKIP
        (500,)
    """

    system: System
    measures: Floats = field(repr=False)
    ratings: Floats = field(repr=False)
    seed: int
    frequencies: Frequencies = field(repr=False)
    prepare: Preparation = field(repr=False)
    vectors: Path

    @cached_property
    def regressor(self) -> Regressor:
        """The learner, after learning."""
        regressor = self.system.learner(self.seed)
        regressor.fit(self.measures, self.ratings)
        return regressor

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """(n,) a rating for every pair, within the range of those learnt from."""
        if not pairs:
            return np.zeros(0)
        rows = self.system.rows(self.prepare(pairs, self.frequencies, self.vectors))
        return np.clip(self.regressor.predict(rows), self.ratings.min(), self.ratings.max())

    def save(self, folder: Path | str) -> None:
        """Into a folder: the measures and ratings of the pairs, the seed, and how often words were seen."""
        folder = Path(folder)
        tensors = {"measures": torch.tensor(self.measures), "ratings": torch.tensor(self.ratings)}
        write_tensors(folder / NUMBERS, tensors)
        about = {
            "format": FORMAT,
            "system": self.system.name,
            "seed": self.seed,
            "vectors": self.vectors.name,
            "scikit-learn": version("scikit-learn"),
            "sentences": self.frequencies.total,
            "frequencies": dict(self.frequencies.counts),
        }
        write_json(folder / ABOUT, about)


@lru_cache(maxsize=2)
def preparation(data: Path) -> Preparation:
    """Return the preparation of a data folder, kept with what it has found in WordNet."""
    return Preparation(data)
