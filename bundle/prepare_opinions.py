"""Everyday opinions as trees with coarse labels, for training beside SST."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bough import Tree
from bough.data import find_data
from bough.data.paths import SPLITS
from bough.errors import DataError
from bough.files import write_text
from bough.formats import ptb
from bough.text import Parser
from bough.text.join_sentences import joined
from bough.text.tokenise import Token, sentences
from bundle.auxiliary_data import UNLABELLED, extra_file
from bundle.opinions import SOURCES, Opinion, load_opinions
from paper.prepare import AT_ONCE, Tell

LABELS = {"negative": "0|1", "neutral": "2", "positive": "3|4"}  # among the five classes of SST


def prepare_opinions(
    parser: Parser, data: Path | str | None = None, out: Path | None = None, *, tell: Tell | None = None
) -> list[Path]:
    """Write `extra/SOURCE/SPLIT.txt` below `out`, else the data folder: comments, titles, openings of reviews."""
    source_folder = find_data(data)
    files = {(s, split): extra_file(out or source_folder, s, split) for s in SOURCES for split in SPLITS}
    for path in files.values():
        if path.exists():
            raise DataError(f"{path} is there already; choose another folder with --out")
    for (source, split), path in files.items():
        found = load_opinions(source_folder, source, split)
        lines: list[str] = []
        for start in range(0, len(found), AT_ONCE):
            lines += _lines(parser, found[start : start + AT_ONCE], first=source == "reviews")
            if tell is not None:
                tell(f"{source} {split}", min(start + AT_ONCE, len(found)), len(found))
        write_text(path, "".join(f"{line}\n" for line in lines))
    return list(files.values())


def _lines(parser: Parser, opinions: Sequence[Opinion], *, first: bool) -> list[str]:
    cut: list[tuple[list[list[Token]], str]] = []
    for opinion in opinions:
        found = sentences(opinion.text)
        if found:
            cut.append((found[:1] if first else found, LABELS[opinion.label]))
    words = [[token.text for token in sentence] for found, _ in cut for sentence in found]
    trees = iter(parser.constituency(words) if words else [])
    return [_line([next(trees) for _ in found], label) for found, label in cut]


def _line(trees: Sequence[Tree], label: str) -> str:
    tree = joined(trees, "constituency")
    labels = [UNLABELLED] * len(tree)
    labels[tree.root] = label
    return ptb.write(tree.replace(labels=labels, relations=None))
