"""Tasks: what an example is, how its loss is computed, what is predicted and how it is scored."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from bough.models.batching import UNLABELLED, PreparedTree, collate
from bough.models.model import Model
from bough.outputs import Output
from bough.train.config import TrainConfig
from bough.trees.forest import Forest

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Rng = np.random.Generator
Trees = Sequence[PreparedTree]
T = TypeVar("T")
AT_ONCE = 256  # examples scored as one forest
BUCKET = 50  # batches whose examples are sorted by length together


class Learnable(Protocol):
    """The methods of a task. The type of the examples and of the model is up to the task."""

    def sizes(self, examples: Sequence[Any]) -> Indices:
        """Return (n,) the cost of each example, by which several processes divide a batch."""

    def batches(self, examples: Sequence[Any], rng: Rng) -> list[Indices]:
        """Return the indices of the examples of each batch of one epoch."""

    def loss(self, model: Any, batch: Sequence[Any], rng: Rng, whole: Sequence[Any] | None = None) -> Tensor:
        """Return the loss of a batch.

        With several processes, `batch` is the part of the batch `whole` that this process computes.
        The sum of the losses of all parts is the loss of `whole`.
        """

    def predict(self, model: Any, examples: Sequence[Any]) -> Floats:
        """Return the predictions, one row per example."""

    def metrics(self, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]:
        """Return the metrics of predictions, by name."""

    def score(self, metrics: dict[str, float]) -> float:
        """Return the score of an epoch from its metrics on dev; the highest is kept."""


class TreeTask:
    """A base class for tasks whose examples are prepared trees, or tuples of prepared trees.

    `class_weights` (K,) are the weights of the classes in the loss, if they differ.
    """

    def __init__(self, config: TrainConfig, output: Output, class_weights: Floats | None = None) -> None:
        self.config, self.output, self.class_weights = config, output, class_weights
        self.metric = output.metric  # the dev metric that chooses the epoch, unless `select_by = "loss"`

    def weights(self, examples: Floats, targets: NDArray[Any], like: Tensor) -> Tensor | None:
        """Return the weight of each target, from those of its example (k,) and of its class; None if all are 1."""
        if self.class_weights is not None:
            classes = self.class_weights
            examples = examples * (classes[targets] if targets.ndim == 1 else targets @ classes)
        return None if bool((examples == 1).all()) else torch.from_numpy(examples).to(like)

    def sizes(self, examples: Sequence[Any]) -> Indices:
        """Return (n,) the number of nodes of each example."""
        if (known := getattr(examples, "sizes", None)) is not None:  # without preparing trees
            return np.asarray(known, dtype=np.int64)
        counts = [sum(len(sentence.keys) for sentence in sentences_of(example)) for example in examples]
        return np.array(counts, dtype=np.int64)

    def batches(self, examples: Sequence[Any], rng: Rng) -> list[Indices]:
        """Return batches in random order; with a transformer, of examples of similar length."""
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
        return -metrics["loss"] if "loss" in metrics else -metrics["mse"]


def sentences_of(example: Any) -> Iterator[PreparedTree]:
    """Yield the prepared trees of an example, which is one or a tuple that contains some."""
    parts = example if isinstance(example, tuple) else (example,)
    return (one for one in parts if isinstance(one, PreparedTree))


def shuffled(count: int, batch: int, rng: Rng) -> list[Indices]:
    """Return the integers below `count` in random order, in batches of `batch`."""
    order = rng.permutation(count)
    return [order[start : start + batch] for start in range(0, count, batch)]


def pieces(examples: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the examples in groups of at most 256, which are scored together."""
    return (examples[start : start + AT_ONCE] for start in range(0, len(examples), AT_ONCE))


class LabelledNodes(NamedTuple):
    """The labelled nodes of a batch: `labels` (L,), and `rows` (L,), the row of each one's state in `states` (R, D)."""

    forest: Forest
    labels: Indices
    states: Tensor
    row_of: Tensor  # (N,) the row of the state of every node, labelled or not
    rows: Tensor


class NodesTask(TreeTask):
    """Trees with labels at any nodes; predictions are for the root."""

    def labelled_nodes(self, model: Model, batch: Trees) -> LabelledNodes:
        """Return the states of a batch and its labelled nodes.

        If the layer computes no states of phrases, each node has the state of its sentence.
        """
        forest, inputs = collate(batch, model)
        at_nodes = np.concatenate([tree.labels for tree in batch])
        labelled = np.flatnonzero(at_nodes != UNLABELLED)
        if model.layer.phrases:
            states, row_of = model.states(forest, inputs)
        else:
            states, row_of = model.sentences(forest, inputs), forest.batch
        rows = row_of.index_select(0, torch.from_numpy(labelled).to(states.device))
        return LabelledNodes(forest, at_nodes[labelled], states, row_of, rows)

    def loss(self, model: Model, batch: Trees, rng: Rng, whole: Trees | None = None) -> Tensor:
        """Return the loss of all labelled nodes."""
        every = batch if whole is None else whole
        nodes = self.labelled_nodes(model, batch)
        targets = nodes.labels
        if rows := [tree.targets for tree in batch if tree.targets is not None]:
            # targets in the order of the nodes: the label of a node is a row of its tree's targets
            labels = [tree.labels[tree.labels != UNLABELLED] for tree in batch if tree.targets is not None]
            targets = np.concatenate([own[label] for own, label in zip(rows, labels, strict=True)])
        of_examples = np.repeat([tree.weight for tree in batch], [tree.labelled for tree in batch])
        weights = self.weights(of_examples, targets, nodes.states)
        y = torch.from_numpy(targets).to(nodes.states.device)
        loss = self.output.loss(model.head, (nodes.states,), y, nodes.rows, weights)
        if self.config.loss_over == "trees":
            # NOTE(paper): not the mean over labelled nodes, 1/m, but their sum over the number of trees.
            return loss / len(every)
        return loss / max(1, sum(tree.labelled for tree in every))

    @torch.no_grad()
    def predict(self, model: Model, examples: Trees) -> Floats:
        """Return (n, T), the predictions for the roots."""
        model.eval()
        parts = []
        for group in pieces(examples):
            forest, inputs = collate(group, model)
            parts.append(self.output.predict(model.head, model.sentences(forest, inputs)))
        return np.concatenate(parts).astype(np.float64)

    def metrics(self, predicted: Floats, examples: Any) -> dict[str, float]:
        """Return the metrics of the predictions for the `Examples` of a split."""
        return self.output.epoch_metrics(predicted, examples.split.gold())


class RatedPair(NamedTuple):
    """Two trees and their rating or their encoded label; `source` may name their data set."""

    left: PreparedTree
    right: PreparedTree
    rating: Any
    source: str = ""


Pairs = Sequence[RatedPair]


class PairsTask(TreeTask):
    """Two trees and a label, such as a rating on the model's scale (Sec. 4.2)."""

    def vectors(self, model: Model, pairs: Pairs) -> tuple[Tensor, ...]:
        """Return (pairs, D) the vectors of the left and of the right trees, with dropout."""
        both = [*(pair.left for pair in pairs), *(pair.right for pair in pairs)]
        forest, inputs = collate(both, model)
        # for a layer that attends to the other tree: left i is tree i, right i is tree pairs + i
        others = torch.arange(len(forest), device=forest.device).roll(len(pairs))
        sides = model.sentences(forest, inputs, others).chunk(2)
        # NOTE(paper): the text does not say how dropout was drawn; here each sentence has its own mask.
        return tuple(functional.dropout(side, self.config.dropout, model.training) for side in sides)

    def loss(self, model: Model, batch: Pairs, rng: Rng, whole: Pairs | None = None) -> Tensor:
        """Return the mean loss of a batch of pairs."""
        sides = self.vectors(model, batch)
        targets = self.output.targets([pair.rating for pair in batch])
        weights = self.weights(np.array([pair.left.weight for pair in batch]), targets, sides[0])
        y = torch.from_numpy(targets).to(sides[0].device)
        loss = self.output.loss(model.head, sides, y, weights=weights)
        return loss if whole is None else loss * (len(batch) / len(whole))

    @torch.no_grad()
    def predict(self, model: Model, examples: Pairs) -> Floats:
        """Return the prediction for each pair, one row for each."""
        model.eval()
        parts = [self.output.predict(model.head, *self.vectors(model, group)) for group in pieces(examples)]
        return np.concatenate(parts).astype(np.float64)

    def metrics(self, predicted: Floats, examples: Pairs) -> dict[str, float]:
        """Return the metrics of the predictions."""
        return self.output.epoch_metrics(predicted, np.array([pair.rating for pair in examples]))
