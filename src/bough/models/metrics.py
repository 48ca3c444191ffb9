"""Metrics of predicted classes, labels, numbers and ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.models.output_spec import OutputSpec, likeliest

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassLine:
    """The number of examples of one class, the number of predictions of it, and their precision and recall.

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


def class_report(names: Sequence[str], predicted: Floats, gold: NDArray[np.int64]) -> Report:
    """Return metrics, a line per class and the confusion matrix; predicted (n, K), gold (n,)."""
    confusion = _confusion(likeliest(tuple(names), predicted), gold, predicted.shape[1])
    lines = _class_lines(names, confusion.sum(axis=1), confusion.sum(axis=0), confusion.diagonal())
    return Report(_figures(confusion, predicted, gold), lines, len(gold), confusion.tolist())


def _confusion(chosen: NDArray[np.int64], gold: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Return (K, K) the confusion matrix, with a row per true class and a column per predicted class."""
    confusion = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(confusion, (gold, chosen), 1)
    return confusion


def by_class(names: Sequence[str], predicted: Floats, gold: NDArray[np.int64]) -> list[ClassLine]:
    """Return a line for each class that occurs or was predicted; predicted (n, K), gold (n,)."""
    return class_report(names, predicted, gold).classes


def _class_lines(
    names: Sequence[str], examples: NDArray[Any], predicted: NDArray[Any], hits: NDArray[Any]
) -> list[ClassLine]:
    counts = zip(names, examples.tolist(), predicted.tolist(), hits.tolist(), strict=True)
    return [
        ClassLine(name, true, chosen, right / max(chosen, 1), right / max(true, 1))
        for name, true, chosen, right in counts
        if true or chosen
    ]


def class_figures(predicted: Floats, gold: NDArray[np.int64]) -> dict[str, float]:
    """Return accuracy, macro F1 of the classes that occur, and mean loss; predicted (n, K), gold (n,)."""
    return _figures(_confusion(predicted.argmax(axis=1), gold, predicted.shape[1]), predicted, gold)


def _figures(confusion: NDArray[np.int64], predicted: Floats, gold: NDArray[np.int64]) -> dict[str, float]:
    examples, hits = confusion.sum(axis=1), confusion.diagonal()
    f1 = 2 * hits / np.maximum(examples + confusion.sum(axis=0), 1)
    return {
        "accuracy": float(hits.sum() / len(gold)),
        "f1": float(f1[examples > 0].mean()),
        "loss": root_loss(predicted, gold),
    }


def root_loss(predicted: Floats, gold: NDArray[np.int64]) -> float:
    """Return the mean negative log-likelihood of the true classes; predicted (n, K), gold (n,)."""
    return float(-np.log(predicted[np.arange(len(gold)), gold].clip(1e-30)).mean())


def correlations(predicted: Floats, gold: Floats) -> dict[str, float]:
    """Return Pearson's r, Spearman's rho and the mean squared error; a correlation is 0 if one side is constant."""
    from scipy import stats

    related = np.ptp(predicted) > 0 and np.ptp(gold) > 0
    return {
        "pearson": float(stats.pearsonr(predicted, gold).statistic) if related else 0.0,
        "spearman": float(stats.spearmanr(predicted, gold).statistic) if related else 0.0,
        "mse": float(((predicted - gold) ** 2).mean()),
    }


def number_figures(predicted: Floats, gold: Floats, scale: str = "linear") -> dict[str, float]:
    """Return MAE, RMSE, R^2 and Spearman's rho of predicted numbers (n, T), as means over the T numbers.

    On the scale "log", also return the median, the 90th and the 99th percentile of the q-error, max(y / y', y' / y).
    """
    from scipy import stats

    errors = predicted - gold
    spread = ((gold - gold.mean(axis=0)) ** 2).sum(axis=0)
    related = [
        float(stats.spearmanr(one, other).statistic)
        for one, other in zip(predicted.T, gold.T, strict=True)
        if np.ptp(one) > 0 and np.ptp(other) > 0
    ]
    found = {
        "mae": float(np.abs(errors).mean()),
        "rmse": float(np.sqrt((errors**2).mean(axis=0)).mean()),
        "r2": float((1 - (errors**2).sum(axis=0) / np.maximum(spread, 1e-300)).mean())
        if spread.all()
        else 0.0,
        "spearman": float(np.mean(related)) if related else 0.0,
    }
    if scale == "log":
        low, high = np.minimum(predicted, gold), np.maximum(predicted, gold)
        q = high / np.maximum(low, 1e-300)
        for name, percent in (("median", 50), ("p90", 90), ("p99", 99)):
            found[f"q_error_{name}"] = float(np.percentile(q, percent))
    return found


def label_report(
    names: Sequence[str], predicted: Floats, gold: NDArray[np.int64], thresholds: Sequence[float]
) -> Report:
    """Return the metrics of several labels at once; predicted (n, K) probabilities, gold (n, K) 0 or 1."""
    chosen = predicted > np.array(thresholds)
    right, said, there = (chosen & (gold > 0)).sum(axis=0), chosen.sum(axis=0), (gold > 0).sum(axis=0)
    f1 = 2 * right / np.maximum(said + there, 1)
    p = predicted.clip(1e-7, 1 - 1e-7)
    figures = {
        "micro_f1": float(2 * right.sum() / max(said.sum() + there.sum(), 1)),
        "macro_f1": float(f1[there > 0].mean()) if there.any() else 0.0,
        "exact": float((chosen == (gold > 0)).all(axis=1).mean()),
        "loss": float(-(gold * np.log(p) + (1 - gold) * np.log(1 - p)).sum(axis=1).mean()),
    }
    return Report(figures, _class_lines(names, there, said, right), len(gold))


def report_of(spec: OutputSpec, predicted: Floats, gold: Any) -> Report:
    """Return the metrics of the predictions of a model with this output.

    Predictions are (n, K) probabilities of classes or labels, (n, T) numbers, or (n,) ratings.
    """
    if spec.kind == "classes":
        return class_report(spec.classes, predicted, gold)
    if spec.kind == "labels":
        return label_report(spec.classes, predicted, gold, spec.thresholds)
    if spec.kind == "numbers":
        return Report(number_figures(predicted, gold, spec.scale), [], len(gold))
    return Report(correlations(predicted, gold), [], len(gold))
