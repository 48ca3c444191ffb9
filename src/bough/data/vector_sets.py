"""Which file of vectors to use, and how much of a text it knows."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bough.data.glove import Progress
from bough.data.vectors import Vectors, load_vectors
from bough.errors import DataError

log = logging.getLogger(__name__)

SETS = ("840B", "840B-completed", "42B", "6B")
COMPLETED = ".completed"  # ends the name of a set with estimates for words that the plain one lacks
ENOUGH = 0.95  # of the training tokens, for `choose` to take a set


@dataclass(frozen=True)
class Coverage:
    """How much of a text the vectors `name` know, in types (distinct words) and in tokens (running words).

    Of a completed set also how many tokens have the plain set's own vector, `exact`, and how many that of
    their lower-case form, `lowered`; the other found ones have an estimate.
    """

    name: str
    types: int
    types_found: int
    tokens: int
    tokens_found: int
    exact: int | None = None
    lowered: int = 0

    @property
    def share(self) -> float:
        """The found part of the tokens; 1 for an empty text."""
        return self.tokens_found / self.tokens if self.tokens else 1.0

    def __str__(self) -> str:
        types = self.types_found / self.types if self.types else 1.0
        text = f"{types:.1%} of {self.types:,} types, {self.share:.1%} of {self.tokens:,} tokens"
        if self.exact is None or not self.tokens:
            return text
        parts = (self.exact, self.lowered, self.tokens_found - self.exact - self.lowered)
        exact, lowered, estimated = (f"{part / self.tokens:.1%}" for part in parts)
        return f"{text} ({exact} exact, {lowered} by the lower-case form, {estimated} estimated)"


def coverage(
    path: Path, counts: Mapping[str, int], *, cache: Path | None = None, progress: Progress | None = None
) -> Coverage:
    """How many of the words in `counts` (word to number of occurrences) have a vector in the file.

    Of a completed set, where the plain one lies beside it, also whose: a row that is the word's own in the plain
    set is exact, else one that is the lower-case form's there is that form's, else it is an estimate.
    """
    vectors = load_vectors(path, counts, cache=cache, progress=progress)
    tokens = np.fromiter(counts.values(), np.int64, len(counts))
    known = Coverage(
        vectors.name,
        types=len(counts),
        types_found=int(vectors.found.sum()),
        tokens=int(tokens.sum()),
        tokens_found=int(tokens[vectors.found].sum()),
    )
    plain = _packed(path.parent, vectors.name.removesuffix(COMPLETED))
    if plain is None or not vectors.name.endswith(COMPLETED):
        return known
    exact = _same_rows(vectors, vectors.words, plain, cache)
    lowered = ~exact & _same_rows(vectors, [word.lower() for word in vectors.words], plain, cache)
    return replace(known, exact=int(tokens[exact].sum()), lowered=int(tokens[lowered].sum()))


def choose(
    data: Path,
    counts: Mapping[str, int],
    which: str | Path = "auto",
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """The file of vectors to use: a set's name (`840B`, `840B-completed`, `42B`, `6B`), a path, or `auto`.

    `auto` is 840B if the file at hand has at least 95% of the tokens in `counts` (the training split's), else
    the completed 840B if that has, else 6B.
    """
    if which != "auto":
        return _named(data, which)
    lacking = []
    for name in ("840B", "840B-completed"):
        if (path := _at_hand(data, name)) is not None:
            known = coverage(path, counts, cache=cache, progress=progress)
            if known.share >= ENOUGH:
                log.info("vectors: %s has %s", path.name, known)
                return path
            lacking.append(f"{path.name} has only {known}")
    small = _at_hand(data, "6B")
    if small is not None:
        log.info("vectors: %s, as %s", small.name, "; ".join(lacking) or "840B is not at hand")
        return small
    if lacking:
        raise DataError(
            f"{data / 'glove'}: {'; '.join(lacking)}, {ENOUGH:.0%} wanted, and no glove.6B.300d is beside it; "
            "run `bough fetch glove`, or take it all the same with --vectors 840B"
        )
    raise DataError(
        f"{data / 'glove'}: neither glove.840B.300d nor glove.6B.300d; run `bough fetch glove`, "
        "or name a file with --vectors"
    )


def best_known(
    data: Path, counts: Mapping[str, int], *, cache: Path | None = None
) -> tuple[Path, Coverage] | None:
    """Of all sets in the data folder the one that has most of the tokens, whatever it lacks; None if none is there."""
    paths = filter(None, (_at_hand(data, name) for name in SETS))
    known = [(path, coverage(path, counts, cache=cache)) for path in paths]
    return max(known, key=lambda found: found[1].share, default=None)


def _same_rows(vectors: Vectors, words: Sequence[str], path: Path, cache: Path | None) -> NDArray[np.bool_]:
    """(n,) whether each of the vectors is the one that the file has for the word in its place."""
    known = load_vectors(path, dict.fromkeys(words), cache=cache)
    place = {word: index for index, word in enumerate(known.words)}
    places = [place[word] for word in words]
    same: NDArray[np.bool_] = (vectors.rows == known.rows[places]).all(axis=1)
    return same & vectors.found & known.found[places]


def _named(data: Path, which: str | Path) -> Path:
    if which not in SETS:
        if not Path(which).is_file():
            raise DataError(f"vectors {str(which)!r}: no such file, nor 'auto', {', '.join(map(repr, SETS))}")
        return Path(which)
    path = _at_hand(data, str(which))
    if path is None:
        fetch = "" if which == "840B-completed" else "run `bough fetch glove`, or "
        raise DataError(f"{data / 'glove'}: no {_stem(str(which))}; {fetch}name a file with --vectors")
    return path


def _at_hand(data: Path, which: str) -> Path | None:
    folder = data / "glove"
    archive = folder / f"glove.{which}.zip"  # as glove.6B.zip has it, with shorter vectors too
    return _packed(folder, _stem(which)) or (archive if archive.is_file() else None)


def _stem(which: str) -> str:
    return "glove.840B.300d.completed" if which == "840B-completed" else f"glove.{which}.300d"


def _packed(folder: Path, stem: str) -> Path | None:
    paths = (folder / f"{stem}{suffix}" for suffix in (".txt", ".txt.gz", ".zip"))
    return next((path for path in paths if path.is_file()), None)
