"""Metrics of predicted classes, labels, numbers and ratings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.models.output_spec import OutputSpec, likeliest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


def class_report(names: Sequence[str], predicted: Floats, gold: Ints) -> Report:
    """Return metrics, a line per class and the confusion matrix; predicted (n, K), gold (n,)."""
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(confusion, (gold, likeliest(tuple(names), predicted)), 1)
    examples, chosen, hits = confusion.sum(axis=1), confusion.sum(axis=0), confusion.diagonal()
    f1 = 2 * hits / np.maximum(examples + chosen, 1)
    figures = {
        "accuracy": float(hits.sum() / len(gold)),
        "f1": float(f1[examples > 0].mean()),
        "loss": root_loss(predicted, gold),
    }
    return Report(figures, _class_lines(names, examples, chosen, hits), len(gold), confusion.tolist())


def by_class(names: Sequence[str], predicted: Floats, gold: Ints) -> list[ClassLine]:
    """Return a line for each class that occurs or was predicted; predicted (n, K), gold (n,)."""
    return class_report(names, predicted, gold).classes


def _class_lines(names: Sequence[str], *columns: Ints) -> list[ClassLine]:
    """Return a line for each class; the columns are its examples, its predictions and its hits."""
    counts = zip(names, *(column.tolist() for column in columns), strict=True)
    return [
        ClassLine(name, true, chosen, right / max(chosen, 1), right / max(true, 1))
        for name, true, chosen, right in counts
        if true or chosen
    ]


def class_figures(predicted: Floats, gold: Ints) -> dict[str, float]:
    """Return accuracy, macro F1 of the classes that occur, and mean loss; predicted (n, K), gold (n,)."""
    # with numbers for names, which have no polarity, the predicted class is the most probable one
    return class_report([str(k) for k in range(predicted.shape[1])], predicted, gold).figures


def root_loss(predicted: Floats, gold: Ints) -> float:
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
    r2 = 1 - (errors**2).sum(axis=0) / np.maximum(spread, 1e-300)
    related = [
        float(stats.spearmanr(one, other).statistic)
        for one, other in zip(predicted.T, gold.T, strict=True)
        if np.ptp(one) > 0 and np.ptp(other) > 0
    ]
    found = {
        "mae": float(np.abs(errors).mean()),
        "rmse": float(np.sqrt((errors**2).mean(axis=0)).mean()),
        "r2": float(r2.mean()) if spread.all() else 0.0,
        "spearman": float(np.mean(related)) if related else 0.0,
    }
    if scale == "log":
        low, high = np.minimum(predicted, gold), np.maximum(predicted, gold)
        q = high / np.maximum(low, 1e-300)
        for name, percent in (("median", 50), ("p90", 90), ("p99", 99)):
            found[f"q_error_{name}"] = float(np.percentile(q, percent))
    return found


def label_report(names: Sequence[str], predicted: Floats, gold: Ints, thresholds: Sequence[float]) -> Report:
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
