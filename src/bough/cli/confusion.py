"""Tables of a classifier's figures: splits, classes, and which was taken for which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bough.cli.training import NAMES

MOST = 12  # classes of a matrix that a terminal has room for


def score_table(
    scores: Mapping[str, Mapping[str, float]], title: str, extra: Mapping[str, Mapping[str, float]]
) -> Table:
    """A column for each split, a row for each figure."""
    table = Table("", *scores, title=title, title_justify="left")
    for name in next(iter(scores.values())):
        table.add_row(NAMES[name], *(f"{figures[name]:.4f}" for figures in scores.values()))
    for name, values in extra.items():
        table.add_row(name, *(f"{values[split]:.4f}" for split in scores))
    return table


def class_table(lines: Sequence[Mapping[str, Any]], split: str) -> Table:
    """A row for each class."""
    table = Table(
        "class", "examples", "predicted", "precision", "recall", "F1", title=split, title_justify="left"
    )
    for line in lines:
        figures = [f"{line[key]:.3f}" for key in ("precision", "recall", "f1")]
        table.add_row(Text(line["name"]), f"{line['examples']:,}", f"{line['predicted']:,}", *figures)
    return table


def confusion_table(score: Mapping[str, Any], split: str) -> Table | str:
    """Rows are what it is, columns what was said; of very many classes it is in the report."""
    names = [line["name"] for line in score["classes"]]
    confusion = list(score["confusion"])
    if len(confusion) > MOST or len(names) < len(confusion):
        return f"{len(confusion)} classes: which was taken for which is in the report"
    table = Table("is \\ said", *map(escape, names), title=split, title_justify="left")
    for name, counts in zip(names, confusion, strict=True):
        table.add_row(Text(name), *(str(count) if count else "·" for count in counts))
    return table
