"""What a task is to the loop: examples to read, a loss to lower, predictions to score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bough.models.batching import Sentence
from bough.models.model import Model

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
T = TypeVar("T")
AT_ONCE = 256  # examples scored as one forest
LIKE = 50  # batches among which examples of like length are put together


class Learnable(Protocol):
    """What the training loop asks of a task.

    `start` sees the training examples once, before the first step. `sizes` says how much work each example is.
    `batches` draws the batches of one epoch. With several processes, `batch` is the part of `whole` that this
    process computes, and its loss is what it adds to the loss of the whole batch.
    """

    metric: str  # the figure of dev that picks the epoch, unless the loss does

    def start(self, examples: Sequence[Any], model: Model) -> None: ...
    def sizes(self, examples: Sequence[Any]) -> Indices: ...
    def batches(self, examples: Sequence[Any], rng: np.random.Generator) -> list[Indices]: ...
    def loss(
        self,
        model: Model,
        batch: Sequence[Any],
        rng: np.random.Generator,
        whole: Sequence[Any] | None = None,
    ) -> Tensor: ...
    def predict(self, model: Model, examples: Sequence[Any]) -> Floats: ...
    def metrics(self, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]: ...


@runtime_checkable
class Sized(Protocol):
    """Examples that know their sizes, so that none need be made to be counted."""

    @property
    def sizes(self) -> Indices: ...


def sizes_of(sentences: Sequence[Sentence]) -> Indices:
    """(n,) nodes of each."""
    if isinstance(sentences, Sized):
        return sentences.sizes
    return np.array([len(sentence.keys) for sentence in sentences], dtype=np.int64)


def shuffled(count: int, batch: int, rng: np.random.Generator) -> list[Indices]:
    """The numbers below `count` in a fresh order, `batch` at a time."""
    order = rng.permutation(count)
    return [order[start : start + batch] for start in range(0, count, batch)]


def of_like_length(lengths: NDArray[np.int64], batch: int, rng: np.random.Generator) -> list[Indices]:
    """The numbers of all examples, `batch` at a time, those of a batch of about one length, in a fresh order."""
    order = rng.permutation(len(lengths))
    pool = LIKE * batch
    pools = [order[start : start + pool] for start in range(0, len(order), pool)]
    ranked = np.concatenate([some[np.argsort(lengths[some], kind="stable")] for some in pools])
    found = [ranked[start : start + batch] for start in range(0, len(ranked), batch)]
    return [found[i] for i in rng.permutation(len(found))]


def pieces(examples: Sequence[T]) -> Iterator[Sequence[T]]:
    """The examples in the pieces that are scored at once."""
    return (examples[start : start + AT_ONCE] for start in range(0, len(examples), AT_ONCE))
