"""The interface between the training loop and a task: batches, loss, predictions and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bough.models.batching import PreparedTree
from bough.train.config import TrainConfig

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Rng = np.random.Generator
Trees = Sequence[PreparedTree]
T = TypeVar("T")
AT_ONCE = 256  # examples scored as one forest
BUCKET = 50  # batches whose examples are sorted by length together


class Learnable(Protocol):
    """The methods of a task. The model is a `torch.nn.Module`; the type of the examples is up to the task."""

    def start(self, examples: Sequence[Any], model: Any) -> None:
        """Prepare for the training examples; called once, before the first step."""

    def sizes(self, examples: Sequence[Any]) -> Indices:
        """Return (n,) the cost of each example, by which several processes divide a batch."""

    def batches(self, examples: Sequence[Any], rng: Rng) -> list[Indices]:
        """Return the indices of the examples of each batch of one epoch."""

    def loss(self, model: Any, batch: Sequence[Any], rng: Rng, whole: Sequence[Any] | None = None) -> Tensor:
        """Return the loss of a batch.

        With several processes, `batch` is the part of the batch `whole` that this process computes. The sum of the
        losses of all parts is the loss of `whole`.
        """

    def predict(self, model: Any, examples: Sequence[Any]) -> Floats:
        """Return the predictions, one row per example."""

    def metrics(self, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]:
        """Return the metrics of predictions, by name."""

    def score(self, metrics: dict[str, float]) -> float:
        """Return the score of an epoch from its metrics on dev; the epoch with the highest score is kept."""


class TreeTask:
    """A base class for tasks whose examples are prepared trees, or tuples of prepared trees."""

    metric: str  # the dev metric that chooses the epoch, unless `select_by = "loss"`
    loss_metric = "loss"

    def __init__(self, config: TrainConfig) -> None:
        self.config = config

    def start(self, examples: Sequence[Any], model: Any) -> None:
        """Do nothing."""

    def sizes(self, examples: Sequence[Any]) -> Indices:
        """Return (n,) the number of nodes of each example."""
        if (known := getattr(examples, "sizes", None)) is not None:  # known without preparing the trees
            return np.asarray(known, dtype=np.int64)
        counts = [sum(len(sentence.keys) for sentence in sentences_of(example)) for example in examples]
        return np.array(counts, dtype=np.int64)

    def batches(self, examples: Sequence[Any], rng: Rng) -> list[Indices]:
        """Return batches in random order; with a transformer, batches of examples of similar length."""
        size = self.config.batch_size
        if not self.config.encoder:
            return shuffled(len(examples), size, rng)
        # texts of similar length need little padding
        lengths = self.sizes(examples)
        pools = shuffled(len(examples), BUCKET * size, rng)
        ranked = np.concatenate([some[np.argsort(lengths[some], kind="stable")] for some in pools])
        found = [ranked[start : start + size] for start in range(0, len(ranked), size)]
        return [found[i] for i in rng.permutation(len(found))]

    def score(self, metrics: dict[str, float]) -> float:
        """Return the task's metric, or the negative loss with `select_by = "loss"`."""
        if self.config.select_by == "score":
            return metrics[self.metric]
        return -metrics["loss"] if "loss" in metrics else -metrics[self.loss_metric]


def sentences_of(example: Any) -> Iterator[PreparedTree]:
    """Yield the prepared trees of an example, which is a prepared tree or a tuple that contains some."""
    parts = example if isinstance(example, tuple) else (example,)
    return (one for one in parts if isinstance(one, PreparedTree))


def shuffled(count: int, batch: int, rng: Rng) -> list[Indices]:
    """Return the integers below `count` in random order, in batches of `batch`."""
    order = rng.permutation(count)
    return [order[start : start + batch] for start in range(0, count, batch)]


def pieces(examples: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the examples in groups of at most 256, which are scored together."""
    return (examples[start : start + AT_ONCE] for start in range(0, len(examples), AT_ONCE))
