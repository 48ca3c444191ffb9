"""Which file of vectors to use, and how much of a text it knows."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bough.data.glove import Progress
from bough.data.vectors import Vectors, load_vectors
from bough.errors import DataError

log = logging.getLogger(__name__)

SETS = ("840B", "42B", "6B")
ENOUGH = 0.95  # of the training tokens, for `choose` to take a set


@dataclass(frozen=True)
class Coverage:
    """How much of a text the vectors know, in types (distinct words) and in tokens (running words)."""

    types: int
    types_found: int
    tokens: int
    tokens_found: int

    @property
    def share(self) -> float:
        """The found part of the tokens; 1 for an empty text."""
        return self.tokens_found / self.tokens if self.tokens else 1.0

    def __str__(self) -> str:
        types = self.types_found / self.types if self.types else 1.0
        return f"{types:.1%} of {self.types:,} types, {self.share:.1%} of {self.tokens:,} tokens"


def coverage(vectors: Vectors, counts: Mapping[str, int]) -> Coverage:
    """How many of the words in `counts` (word to number of occurrences) have a vector."""
    found = dict(zip(vectors.words, vectors.found.tolist(), strict=True))
    for word in counts:
        if word not in found:
            raise ValueError(f"counts has {word!r}, which is not among the {len(found):,} words looked up")
    return Coverage(
        types=len(counts),
        types_found=sum(found[word] for word in counts),
        tokens=sum(counts.values()),
        tokens_found=sum(count for word, count in counts.items() if found[word]),
    )


def choose(
    data: Path,
    counts: Mapping[str, int],
    which: str | Path = "auto",
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """The file of vectors to use: a set's name (`840B`, `42B`, `6B`), a path, or `auto`.

    `auto` is 840B if the file at hand has at least 95% of the tokens in `counts` (the training split's),
    else 6B.
    """
    if which != "auto":
        return _named(data, which)
    large, small = _at_hand(data, "840B"), _at_hand(data, "6B")
    if large is None and small is None:
        raise DataError(
            f"{data / 'glove'}: neither glove.840B.300d nor glove.6B.300d; run `bough fetch glove`, "
            "or name a file with --vectors"
        )
    if large is None:
        assert small is not None
        log.info("vectors: %s, as 840B is not at hand", small.name)
        return small
    known = coverage(load_vectors(large, counts, cache=cache, progress=progress), counts)
    if known.share >= ENOUGH:
        log.info("vectors: %s has %s", large.name, known)
        return large
    if small is None:
        raise DataError(
            f"{large}: has {known}, {ENOUGH:.0%} wanted, and no glove.6B.300d is beside it; "
            "run `bough fetch glove`, or take it all the same with --vectors 840B"
        )
    log.info("vectors: %s, as %s has only %s", small.name, large.name, known)
    return small


def _named(data: Path, which: str | Path) -> Path:
    if which not in SETS:
        if not Path(which).is_file():
            raise DataError(f"vectors {str(which)!r}: no such file, nor 'auto', {', '.join(map(repr, SETS))}")
        return Path(which)
    path = _at_hand(data, str(which))
    if path is None:
        raise DataError(
            f"{data / 'glove'}: no glove.{which}.300d; run `bough fetch glove`, or name a file with --vectors"
        )
    return path


def _at_hand(data: Path, which: str) -> Path | None:
    stem = f"glove.{which}"
    names = (f"{stem}.300d.txt", f"{stem}.300d.txt.gz", f"{stem}.300d.zip", f"{stem}.zip")
    return next((path for name in names if (path := data / "glove" / name).is_file()), None)
