"""Tables of metrics: by split, by class, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from bough.outputs import ClassLine

MOST = 12  # classes of a confusion matrix that fits on a terminal


def metric_table(figures: Mapping[str, float], title: str, titles: Mapping[str, str] = {}) -> Table:
    """Return a table with a row for each metric; `titles` are the names to show."""
    table = Table(title=title, show_header=False)
    for name, value in figures.items():
        table.add_row(titles.get(name, name), f"{value:.4f}")
    return table


def class_table(lines: Sequence[ClassLine], title: str) -> Table:
    """Return a table with a row for each class."""
    names = ("class", "examples", "predicted", "precision", "recall", "F1")
    table = Table(*names, title=title, title_justify="left")
    for line in lines:
        figures = [f"{value:.3f}" for value in (line.precision, line.recall, line.f1)]
        table.add_row(Text(line.name), f"{line.examples:,}", f"{line.predicted:,}", *figures)
    return table


def confusion_table(lines: Sequence[ClassLine], confusion: list[list[int]], title: str) -> Table | str:
    """Return the confusion matrix, or a line if there are too many classes for a terminal."""
    names = [line.name for line in lines]
    there = [i for i, row in enumerate(confusion) if any(row) or any(other[i] for other in confusion)]
    if len(there) > MOST:
        return f"{len(there)} classes: too many for a confusion matrix here"
    table = Table("true \\ predicted", *map(escape, names), title=title, title_justify="left")
    for name, i in zip(names, there, strict=True):
        table.add_row(Text(name), *(str(confusion[i][j] or "\u00b7") for j in there))
    return table
