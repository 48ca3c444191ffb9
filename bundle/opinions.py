"""Everyday opinions with coarse labels: comments (GoEmotions), subtitles (XED), news (NewsMTSC)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bough.data.paths import SPLITS, choose_from, find_data, require
from bough.data.tables import rows_with
from bough.errors import DataError
from bough.files import write_text
from bough.formats import ptb
from bough.text import Parser
from bough.text.join_sentences import join_sentences
from bough.text.tokenise import sentences, without_addresses
from bundle.sst_mixture import extra_file
from paper.prepare import AT_ONCE, Tell

SOURCES = ("goemotions", "xed", "newsmtsc")
LABELS = {"negative": "0|1", "neutral": "2", "positive": "3|4"}  # among the five classes of SST
HINT = "GoEmotions, XED and NewsMTSC as CSV with split, text and label go to opinions/SOURCE.csv"
# what the sources write for a name: as the name of an account, which is set aside before parsing
PLACEHOLDERS = {"[NAME]": "@name", "[PERSON]": "@name", "[RELIGION]": "religion", "[LOCATION]": "town"}


class Opinion(NamedTuple):
    """A text and its class: negative, neutral or positive, or one of SST's five."""

    text: str
    label: str

    @property
    def side(self) -> str:
        """The class without its degree."""
        return self.label.removeprefix("very ")


def load_opinions(data: Path | str | None, source: str, split: str) -> list[Opinion]:
    """Read the texts of one source in one split."""
    opinions = []
    for text, label in published_opinions(data, source, split):
        for placeholder, word in PLACEHOLDERS.items():
            text = text.replace(placeholder, word)
        opinions.append(Opinion(text, label))
    return opinions


def published_opinions(data: Path | str | None, source: str, split: str) -> list[Opinion]:
    """Read the texts of one source in one split with its placeholders for names."""
    choose_from("source", source, SOURCES)
    path = find_data(data) / "opinions" / f"{source}.csv"
    require([path], "opinions", HINT)
    rows = rows_with(path, ("split", "text", "label"))
    opinions = [
        Opinion(row["text"], row["label"]) for row in rows if row["split"] == split and row["text"].strip()
    ]
    if not opinions:
        raise DataError(f"{path}: no texts for {split}")
    return opinions


def prepare_opinions(
    parser: Parser, data: Path | str | None = None, out: Path | None = None, *, tell: Tell | None = None
) -> list[Path]:
    """Parse all sources and write `extra/SOURCE/SPLIT.txt` below `out`, else the data folder.

    The root of a text's tree has the coarse label, the other nodes none.
    """
    source_folder = find_data(data)
    files = {(s, split): extra_file(out or source_folder, s, split) for s in SOURCES for split in SPLITS}
    for path in files.values():
        if path.exists():
            raise DataError(f"{path} already exists; choose another folder with --out")
    for (source, split), path in files.items():
        opinions = load_opinions(source_folder, source, split)
        lines: list[str] = []
        for start in range(0, len(opinions), AT_ONCE):
            batch = opinions[start : start + AT_ONCE]
            lines += _labelled_trees(parser, batch)
            if tell is not None:
                tell(f"{source} {split}", start + len(batch), len(opinions))
        write_text(path, "".join(f"{line}\n" for line in lines))
    return list(files.values())


def _labelled_trees(parser: Parser, opinions: Sequence[Opinion]) -> Iterator[str]:
    """Yield the tree of each text, in brackets; a text without words has none."""
    split = [(without_addresses(sentences(text)), LABELS[label]) for text, label in opinions]
    words = [[token.text for token in sentence] for text, _ in split for sentence in text]
    trees = iter(parser.constituency(words) if words else [])
    for text, label in split:
        if text:
            tree = join_sentences([next(trees) for _ in text], "constituency")
            labels = ["#"] * len(tree)
            labels[tree.root] = label
            yield ptb.write(tree.replace(labels=labels, relations=None))
