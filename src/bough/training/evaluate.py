"""A trained model on a split: figures, a table by class, and the predictions in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bough.model.model import Model
from bough.storage import write_text
from bough.training.measured import is_measured, predict_split
from bough.training.tasks import Floats, SentimentTask, read_some, task_for

CLASS_NAMES = {
    "sst5": ("very negative", "negative", "neutral", "positive", "very positive"),
    "sst2": ("negative", "neutral", "positive"),
}
POLES = ("negative", "positive")


@dataclass(frozen=True)
class ClassLine:
    """One class: how many examples are of it, how many were said to be, and how many of those rightly."""

    name: str
    examples: int
    predicted: int
    precision: float
    recall: float


@dataclass(frozen=True)
class Report:
    """What `evaluate` found."""

    figures: dict[str, float]
    classes: list[ClassLine]
    examples: int


def evaluate(
    run: Path,
    split: str = "test",
    *,
    data: Path | str | None = None,
    device: str = "cpu",
    out: Path | None = None,
) -> Report:
    """Score the model in the folder `run` on one split of its data set."""
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
        classes = _by_class(model.config.task, predicted, np.array([sentence.label for sentence in examples]))
    return Report(task.metrics(predicted, examples), classes, len(examples))


def _write(out: Path | None, predicted: Floats) -> None:
    if out is not None:
        rows = np.atleast_2d(predicted.T).T
        write_text(out, "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in rows))


def _by_class(task: str, predicted: Floats, gold: NDArray[np.int64]) -> list[ClassLine]:
    names = CLASS_NAMES[task] if predicted.shape[1] > 2 else POLES
    if task == "sst2":
        predicted = predicted.copy()
        predicted[:, 1:-1] = 0  # neutral is a class inside sentences only
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
