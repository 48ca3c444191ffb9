"""The STS benchmark (Cer et al., 2017): pairs from captions, news and forums, and how alike they are, 0 to 5."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bough.data.checksums import text_digest
from bough.data.paths import SPLITS, find_data, require
from bough.data.tables import rows_with
from bough.errors import DataError, FormatError
from bough.formats.lines import numbered
from paper.sick import TEXTS

SOURCES = {"captions": "main-captions", "news": "main-news", "forums": "main-forum"}  # how their genres begin
COLUMNS = ("genre", "score", "a", "b")
HELD = 10  # one pair in so many of the published train split is held out


class Alike(NamedTuple):
    """Two texts and how alike they are on SICK's scale, 1 to 5."""

    id: str
    a: str
    b: str
    score: float


def load_sts(data: Path | str | None, source: str, split: str) -> list[Alike]:
    """The pairs of one genre in one split.

    The published test split is not used: `test` is the published dev split, `dev` a tenth of the published train split,
    by a hash of its words, and `train` the rest of that. From both of these a pair with a sentence of SICK's dev or
    test split is left out.
    """
    if source not in SOURCES:
        raise DataError(f"source {source!r}: one of {', '.join(map(repr, SOURCES))}")
    if split not in SPLITS:
        raise DataError(f"split {split!r}: one of {', '.join(map(repr, SPLITS))}")
    folder = find_data(data)
    published = folder / "stsb" / ("dev.csv" if split == "test" else "train.csv")
    found = [pair for genre, pair in _rows(published) if genre.startswith(SOURCES[source])]
    if split == "test":
        return found
    foreign = sick_sentences(folder)
    apart = [pair for pair in found if foreign.isdisjoint((said(pair.a), said(pair.b)))]
    return [pair for pair in apart if (_tenth(pair) == 0) == (split == "dev")]


def sick_sentences(data: Path) -> set[str]:
    """The sentences of SICK's dev and test splits, as `said` has them."""
    paths = [data / "sick" / TEXTS[split][0] for split in ("dev", "test")]
    require(paths, "sick")
    lines = [line.split("\t") for path in paths for number, line in numbered(path, str(path)) if number > 1]
    return {said(text) for fields in lines for text in fields[1:3]}


def said(text: str) -> str:
    """The words of a text, whatever their case and punctuation.

    >>> said("It's raining, again.")
    'it s raining again'
    """
    return " ".join(re.findall(r"\w+", text.lower()))


def _tenth(pair: Alike) -> int:
    both = "\n".join(sorted((said(pair.a), said(pair.b))))
    return text_digest(both)[0] % HELD


def _rows(path: Path) -> Iterator[tuple[str, Alike]]:
    require(
        [path],
        "stsb",
        "the STS benchmark as CSV with genre, score, a and b goes to stsb/train.csv and dev.csv",
    )
    for number, row in enumerate(rows_with(path, COLUMNS), 1):
        score = 1 + 0.8 * _score(row["score"], path, number)
        yield row["genre"], Alike(str(number), row["a"], row["b"], score)


def _score(text: str, path: Path, number: int) -> float:
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 5:
        raise FormatError(f"row {number}: score {text!r}; a score is a number from 0 to 5", where=str(path))
    return score
