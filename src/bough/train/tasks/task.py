"""What a task is to the loop: examples to read, a loss to lower, predictions to score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bough.data import DataError
from bough.model.config import Config
from bough.model.model import Model
from bough.model.sentences import Sentence
from bough.training.tasks.share import Share
from bough.trees.tree import Tree

Parse = Literal["constituency", "dependency"]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
T = TypeVar("T")
AT_ONCE = 256  # examples scored as one forest
LIKE = 50  # batches among which examples of like length are put together


class Learnable(Protocol):
    """What the loop asks: an epoch's batches in an order drawn anew, their loss, predictions and figures of them.

    `sizes` says how much work an example is. The loss of a share of a batch is what it adds to the whole batch's.
    """

    def sizes(self, examples: Sequence[Any]) -> Indices: ...
    def batches(self, examples: Sequence[Any], rng: np.random.Generator) -> list[Indices]: ...
    def loss(self, model: Model, batch: Sequence[Any] | Share[Any], rng: np.random.Generator) -> Tensor: ...
    def predict(self, model: Model, examples: Sequence[Any]) -> Floats: ...
    def metrics(self, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]: ...


class Task(Learnable, Protocol):
    """Examples of one data set: `read` gives trees, `prepare` what `loss` and `predict` take.

    `to_learn` is `prepare` for the training split, whose examples may be others.
    """

    data: Path  # the folder that its files lie in

    def read(self, split: str) -> list[Any]: ...
    def files(self, split: str) -> list[Path]: ...
    def trees(self, examples: Sequence[Any]) -> Iterator[Tree]: ...
    def prepare(self, examples: Sequence[Any], model: Model) -> list[Any]: ...
    def to_learn(self, examples: Sequence[Any], model: Model) -> list[Any]: ...


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


def parse_for(config: Config, usual: Parse) -> Parse:
    """The trees that a configuration's layer reads; for one that reads words, the task's usual ones have them."""
    reads = config.kind.reads
    return usual if reads == "words" else reads


def read_some(task: Task, split: str) -> list[Any]:
    """The examples of a split; none at all is a DataError."""
    examples = task.read(split)
    if not examples:
        raise DataError(f"{task.files(split)[0]}: no examples for {split}")
    return examples


def word_counts(task: Task, examples: Sequence[Any]) -> Counter[str]:
    """How often each word occurs."""
    return Counter(token for tree in task.trees(examples) for token in tree.tokens or () if token is not None)


def shuffled(count: int, batch: int, rng: np.random.Generator) -> list[Indices]:
    """The numbers below `count` in a fresh order, `batch` at a time."""
    order = rng.permutation(count)
    return [order[start : start + batch] for start in range(0, count, batch)]


def alike(lengths: NDArray[np.int64], batch: int, rng: np.random.Generator) -> list[Indices]:
    """The same, every batch of one length only; the batches come in a fresh order too."""
    groups = [np.flatnonzero(lengths == length) for length in np.unique(lengths)]
    found = [group[chosen] for group in groups for chosen in shuffled(len(group), batch, rng)]
    return [found[i] for i in rng.permutation(len(found))]


def of_like_length(lengths: NDArray[np.int64], batch: int, rng: np.random.Generator) -> list[Indices]:
    """The numbers of all examples, `batch` at a time, those of a batch of about one length, in a fresh order."""
    order = rng.permutation(len(lengths))
    pool = LIKE * batch
    pools = [order[start : start + pool] for start in range(0, len(order), pool)]
    ranked = np.concatenate([some[np.argsort(lengths[some], kind="stable")] for some in pools])
    found = [ranked[start : start + batch] for start in range(0, len(ranked), batch)]
    return [found[i] for i in rng.permutation(len(found))]


def cut(examples: list[T], limit: int) -> list[T]:
    """The first so many; all, if the limit is 0."""
    return examples[:limit] if limit else examples


def pieces(examples: Sequence[T]) -> Iterator[Sequence[T]]:
    """The examples in the pieces that are scored at once."""
    return (examples[start : start + AT_ONCE] for start in range(0, len(examples), AT_ONCE))
