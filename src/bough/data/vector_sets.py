"""Choose a file of word vectors by its coverage of a text."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bough.data.vectors import load_vectors
from bough.errors import DataError

log = logging.getLogger(__name__)

COMPLETED = ".completed"  # ends the name of a set with estimates for words that the plain one lacks
SETS = {"840B": "glove.840B.300d", "840B-completed": f"glove.840B.300d{COMPLETED}"}
SETS |= {"42B": "glove.42B.300d", "6B": "glove.6B.300d"}
Counts = Mapping[str, int]  # words, and how often each occurs
ENOUGH = 0.95  # of the training tokens, for `choose` to take a set


@dataclass(frozen=True)
class Coverage:
    """How much of a text the vectors `name` cover, in types (distinct words) and in tokens (running words).

    For a completed set, `exact` tokens have the plain set's own vector and `lowered` tokens that of
    their lower-case form; the other found tokens have an estimate.
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
        """Share of the tokens that have a vector; 1 for an empty text."""
        return self.tokens_found / self.tokens if self.tokens else 1.0

    def __str__(self) -> str:
        types = self.types_found / self.types if self.types else 1.0
        text = f"{types:.1%} of {self.types:,} types, {self.share:.1%} of {self.tokens:,} tokens"
        if self.exact is None or not self.tokens:
            return text
        parts = (self.exact, self.lowered, self.tokens_found - self.exact - self.lowered)
        exact, lowered, estimated = (f"{part / self.tokens:.1%}" for part in parts)
        return f"{text} ({exact} exact, {lowered} by the lower-case form, {estimated} estimated)"


def coverage(path: Path, counts: Counts, *, cache: Path | None = None) -> Coverage:
    """Count how many of the words in `counts` have a vector in the file.

    If the plain set is in the same folder as a completed one, also count the tokens whose row the
    plain set has for the word itself (`exact`), and for its lower-case form (`lowered`).
    """
    vectors = load_vectors(path, counts, cache=cache)
    tokens, found = np.fromiter(counts.values(), np.int64, len(counts)), vectors.found
    types, running = (len(found), int(found.sum())), (int(tokens.sum()), int(tokens[found].sum()))
    known = Coverage(vectors.name, *types, *running)
    plain = _file_of(path.parent, vectors.name.removesuffix(COMPLETED))
    if plain is None or not vectors.name.endswith(COMPLETED):
        return known
    same = []
    for forms in (vectors.words, [word.lower() for word in vectors.words]):
        there = load_vectors(plain, dict.fromkeys(forms), cache=cache)
        index = {word: row for row, word in enumerate(there.words)}
        rows = [index[form] for form in forms]
        same.append((vectors.rows == there.rows[rows]).all(axis=1) & found & there.found[rows])
    exact, lowered = same[0], same[1] & ~same[0]
    return replace(known, exact=int(tokens[exact].sum()), lowered=int(tokens[lowered].sum()))


def choose(data: Path, counts: Counts, which: str | Path = "auto", *, cache: Path | None = None) -> Path:
    """Return the file of vectors to use.

    Args:
        data: the data folder.
        counts: the words of the training split, and how often each occurs.
        which: a set (`840B`, `840B-completed`, `42B`, `6B`), a path, or `auto`: 840B if the file at
            hand has at least 95% of the tokens, else the completed 840B if it has, else 6B.
        cache: the folder of converted vectors; None is the user cache.

    Raise a DataError if there is no such file.
    """
    folder = data / "glove"
    if which != "auto":
        path = _at_hand(data, str(which)) if which in SETS else Path(which)
        if path is None:
            fetch = "" if which == "840B-completed" else "run `bough fetch glove`, or "
            raise DataError(f"{folder}: no {SETS[str(which)]}; {fetch}name a file of vectors")
        if not path.is_file():
            raise DataError(f"vectors {str(which)!r}: no such file, nor 'auto', {', '.join(map(repr, SETS))}")
        return path
    lacking = []
    for name in ("840B", "840B-completed"):
        if (path := _at_hand(data, name)) is not None:
            known = coverage(path, counts, cache=cache)
            if known.share >= ENOUGH:
                log.info("vectors: %s has %s", path.name, known)
                return path
            lacking.append(f"{path.name} has only {known}")
    if (small := _at_hand(data, "6B")) is not None:
        log.info("vectors: %s, as %s", small.name, "; ".join(lacking) or "840B is not at hand")
        return small
    reason, way = "neither glove.840B.300d nor glove.6B.300d", "name a file of vectors"
    if lacking:
        reason = f"{'; '.join(lacking)}, {ENOUGH:.0%} wanted, and no glove.6B.300d is beside it"
        way = "set vectors to 840B to use it anyway"
    raise DataError(f"{folder}: {reason}; run `bough fetch glove`, or {way}")


def best_known(data: Path, counts: Counts, *, cache: Path | None = None) -> tuple[Path, Coverage] | None:
    """Return the set in the data folder that covers most tokens, and its coverage, or None."""
    paths = filter(None, (_at_hand(data, name) for name in SETS))
    known = [(path, coverage(path, counts, cache=cache)) for path in paths]
    return max(known, key=lambda found: found[1].share, default=None)


def _at_hand(data: Path, which: str) -> Path | None:
    """Return the file of a set, or None; the name of glove.6B.zip does not have the vectors' length."""
    archive = data / "glove" / f"glove.{which}.zip"
    return _file_of(data / "glove", SETS[which]) or (archive if archive.is_file() else None)


def _file_of(folder: Path, stem: str) -> Path | None:
    paths = (folder / f"{stem}{suffix}" for suffix in (".txt", ".txt.gz", ".zip"))
    return next((path for path in paths if path.is_file()), None)
