"""A trained model on a split: figures, a table by class, and the predictions in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bough.model.model import Model
from bough.storage import write_text
from bough.training.measured import is_measured, predict_split
from bough.training.tasks import Floats, SentimentTask, read_some, task_for
from bough.training.tasks.classes import class_figures


@dataclass(frozen=True)
class ClassLine:
    """One class: how many examples have it, how many were predicted to, and the precision and recall of that.

    Examples:
        >>> from bough.training.evaluate import ClassLine
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


def evaluate(
    run: Path,
    split: str = "test",
    *,
    data: Path | str | None = None,
    device: str = "cpu",
    out: Path | None = None,
) -> Report:
    """Score the model in a folder on one split of its data set.

    Args:
        run: the folder of a run or a model.
        split: "train", "dev" or "test".
        data: the data folder; None looks where `bough.data.find_data` does.
        device: where to compute.
        out: a file for the predictions.

    Examples:
        >>> import pathlib
        >>> from bough.training.evaluate import evaluate
        >>> evaluate(pathlib.Path("runs/sick-dependency-1")).examples  # doctest: +SKIP
        4927
    """
    if is_measured(run):
        figures, predicted = predict_split(run, split, data)
        _write(out, predicted)
        return Report(figures, [], len(predicted))
    model = Model.load(run, device)
    task = task_for(model.config, data)
    examples = task.prepare(read_some(task, split), model)
    predicted = task.predict(model, examples)
    _write(out, predicted)
    classes = []
    if isinstance(task, SentimentTask):
        gold = np.array([sentence.label for sentence in examples])
        fine = gold < predicted.shape[1]  # of other sources beside SST the labels are coarser
        gold, shown = gold[fine], predicted[fine]
        if model.config.task == "sst2":
            shown[:, 1:-1] = 0  # neutral is a class inside sentences only
        classes = by_class(model.purpose.classes, shown, gold)
        return Report(task.figures(model, predicted, examples), classes, len(examples))
    return Report(task.metrics(predicted, examples), classes, len(examples))


def _write(out: Path | None, predicted: Floats) -> None:
    if out is not None:
        rows = np.atleast_2d(predicted.T).T
        write_text(out, "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in rows))


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
