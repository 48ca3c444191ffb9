"""Everyday opinions: Reddit comments (GoEmotions), Amazon reviews and sayings, with labels coarser than SST's."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bough.data.checksums import text_digest
from bough.data.paths import find_data, require
from bough.data.tables import rows_with
from bough.errors import DataError

SOURCES = ("goemotions", "titles", "reviews", "sayings")  # of a review: its title, or its text
SAYINGS = Path(__file__).with_name("templates.txt")  # patterns of bough's own
MOST = 60  # sayings of one pattern
STARS = {"1": "negative", "2": "negative", "4": "positive", "5": "positive"}
_TENTHS = {0: "test", 1: "dev"}  # of the titles, by their hash; all others are for training


class Opinion(NamedTuple):
    """A text and what it is: negative, neutral or positive."""

    text: str
    label: str


def load_opinions(data: Path | str | None, source: str, split: str) -> list[Opinion]:
    """The texts of one source in one split.

    GoEmotions has its own splits. Of the reviews a tenth is held out for test and one for dev, by a hash of the
    title: no title is in two splits, nor the text below it.
    """
    if source not in SOURCES:
        raise DataError(f"source {source!r}: one of {', '.join(map(repr, SOURCES))}")
    if source == "sayings":
        return [Opinion(text, label) for text, label in _sayings() if _split_of(text) == split]
    path = opinions_file(find_data(data), source)
    require(
        [path],
        "opinions",
        "GoEmotions and Amazon's reviews as CSV go to opinions/goemotions.csv and amazon.csv",
    )
    found = list(_comments(path, split) if source == "goemotions" else _reviews(path, source, split))
    if not found:
        raise DataError(f"{path}: no texts for {split}")
    return found


def opinions_file(data: Path, source: str) -> Path:
    """Where a source lies; the sayings come along."""
    return data / "opinions" / ("goemotions.csv" if source == "goemotions" else "amazon.csv")


def _split_of(text: str) -> str:
    """By a hash of the letters, whatever their case."""
    return _TENTHS.get(text_digest(text.strip().lower())[0] % 10, "train")


def _sayings() -> Iterator[Opinion]:
    for line in SAYINGS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        label, _, pattern = line.partition("\t")
        pieces = re.split(r"\[([^\]]*)\]", pattern)  # what stands between, and what is to be chosen from
        ways = [piece.split("|") if place % 2 else [piece] for place, piece in enumerate(pieces)]
        texts = ["".join(chosen) for chosen in itertools.product(*ways)]
        yield from (Opinion(text, label) for text in sorted(texts, key=text_digest)[:MOST])


def _comments(path: Path, split: str) -> Iterator[Opinion]:
    for row in rows_with(path, ("split", "text", "label")):
        if row["split"] == split and row["text"].strip():
            text = row["text"].replace("[NAME]", "someone").replace("[RELIGION]", "religion")
            yield Opinion(text, row["label"])


def _reviews(path: Path, source: str, split: str) -> Iterator[Opinion]:
    column = "title" if source == "titles" else "text"
    for row in rows_with(path, ("rating", "title", "text")):
        if _split_of(row["title"]) == split and row[column].strip():
            yield Opinion(row[column], STARS[row["rating"]])
