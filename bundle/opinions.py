"""Everyday opinions: Reddit comments (GoEmotions), Amazon reviews and templates, with labels coarser than SST's."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bough.data.checksums import text_digest
from bough.data.paths import SPLITS, find_data, require
from bough.data.tables import rows_with
from bough.errors import DataError
from bough.files import write_text
from bough.formats import ptb
from bough.text import Parser
from bough.text.join_sentences import join_sentences
from bough.text.tokenise import sentences
from bundle.sst_mixture import extra_file
from paper.prepare import AT_ONCE, Tell, unused

SOURCES = ("goemotions", "titles", "reviews", "sayings")  # of a review: its title, or its text
TEMPLATES = Path(__file__).with_name("templates.txt")
MOST = 60  # sentences of one template
STARS = {"1": "negative", "2": "negative", "4": "positive", "5": "positive"}
LABELS = {"negative": "0|1", "neutral": "2", "positive": "3|4"}  # among the five classes of SST
HINT = "GoEmotions and Amazon's reviews as CSV go to opinions/goemotions.csv and amazon.csv"


class Opinion(NamedTuple):
    """A text and what it is: negative, neutral or positive."""

    text: str
    label: str


def load_opinions(data: Path | str | None, source: str, split: str) -> list[Opinion]:
    """Read the texts of one source in one split.

    GoEmotions has its own splits. Of the reviews a tenth is held out for test and one for dev, by a hash of the title:
    no title is in two splits, nor the text below it.
    """
    if source not in SOURCES:
        raise DataError(f"source {source!r}: one of {', '.join(map(repr, SOURCES))}")
    if source == "sayings":
        return [opinion for opinion in _from_templates() if _split_of(opinion.text) == split]
    path = find_data(data) / "opinions" / ("goemotions.csv" if source == "goemotions" else "amazon.csv")
    require([path], "opinions", HINT)
    if source == "goemotions":
        rows = (row for row in rows_with(path, ("split", "text", "label")) if row["split"] == split)
        found = [
            Opinion(row["text"].replace("[NAME]", "someone").replace("[RELIGION]", "religion"), row["label"])
            for row in rows
        ]
    else:
        rows = (
            row for row in rows_with(path, ("rating", "title", "text")) if _split_of(row["title"]) == split
        )
        column = "title" if source == "titles" else "text"
        found = [Opinion(row[column], STARS[row["rating"]]) for row in rows]
    found = [opinion for opinion in found if opinion.text.strip()]
    if not found:
        raise DataError(f"{path}: no texts for {split}")
    return found


def _split_of(text: str) -> str:
    """Choose the split by a hash of the letters, whatever their case."""
    return {0: "test", 1: "dev"}.get(text_digest(text.strip().lower())[0] % 10, "train")


def _from_templates() -> Iterator[Opinion]:
    for line in TEMPLATES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        label, _, template = line.partition("\t")
        pieces = re.split(
            r"\[([^\]]*)\]", template
        )  # fixed text and, at odd indices, the words to choose from
        choices = [piece.split("|") if index % 2 else [piece] for index, piece in enumerate(pieces)]
        texts = ["".join(chosen) for chosen in itertools.product(*choices)]
        yield from (Opinion(text, label) for text in sorted(texts, key=text_digest)[:MOST])


def prepare_opinions(
    parser: Parser, data: Path | str | None = None, out: Path | None = None, *, tell: Tell | None = None
) -> list[Path]:
    """Parse all sources and write `extra/SOURCE/SPLIT.txt` below `out`, else the data folder.

    Of a review only the first sentence is used. The root of a text's tree has the coarse label, the other nodes none.
    """
    source_folder = find_data(data)
    files = {(s, split): extra_file(out or source_folder, s, split) for s in SOURCES for split in SPLITS}
    unused(list(files.values()))
    for (source, split), path in files.items():
        opinions = load_opinions(source_folder, source, split)
        lines: list[str] = []
        for start in range(0, len(opinions), AT_ONCE):
            batch = opinions[start : start + AT_ONCE]
            lines += _labelled_trees(parser, batch, 1 if source == "reviews" else None)
            if tell is not None:
                tell(f"{source} {split}", start + len(batch), len(opinions))
        write_text(path, "".join(f"{line}\n" for line in lines))
    return list(files.values())


def _labelled_trees(parser: Parser, opinions: Sequence[Opinion], most: int | None) -> Iterator[str]:
    """Yield the trees of the first `most` sentences of each text, in brackets; a text without words has none."""
    split = [(sentences(opinion.text)[:most], LABELS[opinion.label]) for opinion in opinions]
    words = [[token.text for token in sentence] for text, _ in split for sentence in text]
    trees = iter(parser.constituency(words) if words else [])
    for text, label in split:
        if text:
            tree = join_sentences([next(trees) for _ in text], "constituency")
            labels = ["#"] * len(tree)
            labels[tree.root] = label
            yield ptb.write(tree.replace(labels=labels, relations=None))
