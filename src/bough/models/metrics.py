"""Metrics of predicted classes and of predicted ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassLine:
    """One class: how many examples have it, how many were predicted to, and the precision and recall of that.

    Examples:
        >>> from bough.models.metrics import ClassLine
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
        """The harmonic mean of the two."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True)
class Report:
    """The result of `evaluate`; `confusion[i][j]` examples of class i were predicted as class j.

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


def class_report(names: Sequence[str], predicted: Floats, gold: NDArray[np.int64]) -> Report:
    """Figures, the classes one by one, and which was taken for which; predicted (n, K), gold (n,)."""
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(confusion, (gold, predicted.argmax(axis=1)), 1)
    classes = by_class(names, predicted, gold)
    return Report(class_figures(predicted, gold), classes, len(gold), confusion.tolist())


def by_class(names: Sequence[str], predicted: Floats, gold: NDArray[np.int64]) -> list[ClassLine]:
    """A line for each class that occurs or was predicted."""
    chosen = predicted.argmax(axis=1)
    lines = []
    for k, name in enumerate(names):
        of_it, said = gold == k, chosen == k
        if not of_it.any() and not said.any():
            continue
        hits = float((of_it & said).sum())
        precision, recall = (hits / count if count else 0.0 for count in (said.sum(), of_it.sum()))
        lines.append(ClassLine(name, int(of_it.sum()), int(said.sum()), float(precision), float(recall)))
    return lines


def class_figures(predicted: Floats, gold: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy, the mean F1 of the classes that occur, and the mean loss; predicted (n, K), gold (n,)."""
    chosen = predicted.argmax(axis=1)
    hits = np.bincount(gold[gold == chosen], minlength=predicted.shape[1])
    there, said = (np.bincount(rows, minlength=predicted.shape[1]) for rows in (gold, chosen))
    f1 = 2 * hits / np.maximum(there + said, 1)
    return {
        "accuracy": float((chosen == gold).mean()),
        "f1": float(f1[there > 0].mean()),
        "loss": root_loss(predicted, gold),
    }


def root_loss(predicted: Floats, gold: NDArray[np.int64]) -> float:
    """The mean negative log-likelihood of the right classes; gold (n,) are their numbers."""
    return float(-np.log(predicted[np.arange(len(gold)), gold].clip(1e-30)).mean())


def correlations(predicted: Floats, gold: Floats) -> dict[str, float]:
    """Pearson's r, Spearman's rho and the mean squared error; no correlation, 0, where one side is constant."""
    from scipy import stats

    related = np.ptp(predicted) > 0 and np.ptp(gold) > 0
    return {
        "pearson": float(stats.pearsonr(predicted, gold).statistic) if related else 0.0,
        "spearman": float(stats.spearmanr(predicted, gold).statistic) if related else 0.0,
        "mse": float(((predicted - gold) ** 2).mean()),
    }
