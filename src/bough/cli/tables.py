"""Tables of metrics: by split, by class, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

NAMES = {
    "accuracy": "accuracy",
    "f1": "macro F1",
    "binary": "binary",
    "phrases": "accuracy of all phrases",
    "pearson": "Pearson r",
    "spearman": "Spearman rho",
    "mse": "MSE",
    "loss": "loss",
}

if TYPE_CHECKING:
    from bough.models.metrics import ClassLine

MOST = 12  # classes of a matrix that a terminal has room for


def score_table(
    scores: Mapping[str, Mapping[str, float]], title: str, extra: Mapping[str, Mapping[str, float]]
) -> Table:
    """Return a table with a column for each split and a row for each metric."""
    table = Table("", *scores, title=title, title_justify="left")
    for name in next(iter(scores.values())):
        table.add_row(NAMES.get(name, name), *(f"{figures[name]:.4f}" for figures in scores.values()))
    for name, values in extra.items():
        table.add_row(name, *(f"{values[split]:.4f}" for split in scores))
    return table


def metric_table(figures: Mapping[str, float], title: str) -> Table:
    """Return a table with a row for each metric."""
    table = Table(title=title, show_header=False)
    for name, value in figures.items():
        derived = ", derived from the five" if name == "binary" and "accuracy" in figures else ""
        table.add_row(NAMES.get(name, name) + derived, f"{value:.4f}")
    return table


def class_table(lines: Sequence[ClassLine], title: str) -> Table:
    """Return a table with a row for each class."""
    table = Table(
        "class", "examples", "predicted", "precision", "recall", "F1", title=title, title_justify="left"
    )
    for line in lines:
        figures = [f"{value:.3f}" for value in (line.precision, line.recall, line.f1)]
        table.add_row(Text(line.name), f"{line.examples:,}", f"{line.predicted:,}", *figures)
    return table


def confusion_table(
    lines: Sequence[ClassLine], confusion: Sequence[Sequence[int]], title: str
) -> Table | str:
    """Return the confusion matrix, or a line that there are too many classes for a terminal."""
    names = [line.name for line in lines]
    there = [i for i, row in enumerate(confusion) if any(row) or any(other[i] for other in confusion)]
    if len(there) > MOST:
        return f"{len(there)} classes: too many for a confusion matrix here"
    table = Table("true \\ predicted", *map(escape, names), title=title, title_justify="left")
    for name, i in zip(names, there, strict=True):
        table.add_row(Text(name), *(str(confusion[i][j] or "\u00b7") for j in there))
    return table
