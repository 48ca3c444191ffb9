"""The paper's two tasks: sentiment of every phrase on SST, relatedness of two sentences on SICK."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from bough import Tree
from bough.errors import DataError
from bough.models.model import Model
from bough.train.tasks import Floats, Learnable
from paper.tasks.sick import RelatednessTask
from paper.tasks.sst import SentimentTask

__all__ = ["RelatednessTask", "SentimentTask", "Task", "read_some", "word_counts"]


class Task(Learnable, Protocol):
    """Examples of one data set: `read` gives trees, `prepare` what `loss` and `predict` take.

    `to_learn` is `prepare` for the training split, whose examples may be others. `finish` may change the chosen model
    by what dev says before test is read, and `figures` are the metrics of the test split.
    """

    data: Path  # the folder that its files lie in

    def read(self, split: str) -> list[Any]: ...
    def files(self, split: str) -> list[Path]: ...
    def trees(self, examples: Sequence[Any]) -> Iterator[Tree]: ...
    def prepare(self, examples: Sequence[Any], model: Model) -> list[Any]: ...
    def to_learn(self, examples: Sequence[Any], model: Model) -> list[Any]: ...
    def finish(self, model: Model, dev: Sequence[Any]) -> None: ...
    def figures(self, model: Model, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]: ...


def read_some(task: Task, split: str) -> list[Any]:
    """Return the examples of a split. Raise a DataError if there are none."""
    examples = task.read(split)
    if not examples:
        raise DataError(f"{task.files(split)[0]}: no examples for {split}")
    return examples


def word_counts(task: Task, examples: Sequence[Any]) -> Counter[str]:
    """Count how often each word occurs."""
    return Counter(token for tree in task.trees(examples) for token in tree.tokens or () if token is not None)
