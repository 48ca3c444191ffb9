"""The STS benchmark and bough's own turns as trees, for training beside SICK."""

from __future__ import annotations

from pathlib import Path

from bough.data import find_data
from bough.data.paths import SPLITS
from bough.text import Parser
from bundle.auxiliary_data import extra_pairs
from bundle.contrast_pairs import TURNS, load_turns
from bundle.sts import SOURCES, load_sts
from paper.prepare import Tell, unused, write_pairs


def prepare_sts(
    parser: Parser, data: Path | str | None = None, out: Path | None = None, *, tell: Tell | None = None
) -> list[Path]:
    """Write `extra/SOURCE/SPLIT/` below `out`, else the data folder: dependency trees of pairs, by genre."""
    source_folder = find_data(data)
    sources = (*SOURCES, TURNS)
    folders = {(s, split): extra_pairs(out or source_folder, s, split) for s in sources for split in SPLITS}
    unused([folder / "id.txt" for folder in folders.values()])
    written: list[Path] = []
    for (source, split), folder in folders.items():
        found = load_turns(split) if source == TURNS else load_sts(source_folder, source, split)
        pairs = [(pair.id, pair.a, pair.b, f"{pair.score:.4f}") for pair in found]
        written += write_pairs(parser, folder, pairs, f"{source} {split}", ["dependency"], tell)
    return written
