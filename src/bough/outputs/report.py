"""Metrics of predictions as one object, with a line for each class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClassLine:
    """The number of examples of one class, the number of predictions of it, and their precision and recall.

    Examples:
        >>> from bough.outputs import ClassLine
        >>> ClassLine("positive", examples=4, predicted=2, precision=1.0, recall=0.5).f1
        0.6666666666666666
    """

    name: str
    examples: int
    predicted: int
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True)
class Report:
    """The result of `evaluate`. `confusion[i][j]` is the number of examples of class i that were predicted as class j.

    Examples:
        >>> import bough
        >>> report = bough.load("sentiment").evaluate(["A delight.", "A dull mess."], ["positive", "very negative"])
        >>> report.figures["accuracy"], report.examples
        (0.5, 2)
    """

    figures: dict[str, float]
    classes: list[ClassLine]
    examples: int
    confusion: list[list[int]] = field(default_factory=list)
    titles: Mapping[str, str] = field(default_factory=dict)  # the metrics as people read them

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        lines = [vars(line) for line in self.classes]
        rest = {"examples": self.examples, "confusion": self.confusion}
        return {"figures": self.figures, "classes": lines, **rest}


def class_lines(names: Sequence[str], examples: Ints, predicted: Ints, hits: Ints) -> list[ClassLine]:
    """Return a line for each class that occurs or was predicted, from (K,) counts."""
    counts = zip(names, examples.tolist(), predicted.tolist(), hits.tolist(), strict=True)
    return [
        ClassLine(name, true, chosen, right / max(chosen, 1), right / max(true, 1))
        for name, true, chosen, right in counts
        if true or chosen
    ]


def class_report(
    names: Sequence[str], chosen: Ints, gold: Ints, loss: float, titles: Mapping[str, str]
) -> Report:
    """Return accuracy, macro F1 of the classes that occur, a line per class and the confusion matrix.

    Shape: chosen, gold (n,) class numbers.
    """
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(confusion, (gold, chosen), 1)
    examples, predicted, hits = confusion.sum(axis=1), confusion.sum(axis=0), confusion.diagonal()
    f1 = 2 * hits / np.maximum(examples + predicted, 1)
    figures = {
        "accuracy": float(hits.sum() / len(gold)),
        "f1": float(f1[examples > 0].mean()),
        "loss": loss,
    }
    lines = class_lines(names, examples, predicted, hits)
    return Report(figures, lines, len(gold), confusion.tolist(), titles)
