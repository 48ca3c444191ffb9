"""Tasks: what an example is, how its loss is computed, what is predicted and how it is scored."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from bough.models.batching import UNLABELLED, PreparedTree, collate, part
from bough.models.metrics import class_figures, correlations, label_report, number_figures
from bough.models.model import Model
from bough.nn import heads
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
    """A base class for tasks whose examples are prepared trees, or tuples of prepared trees."""

    metric: str  # the dev metric that chooses the epoch, unless `select_by = "loss"`

    def __init__(self, config: TrainConfig) -> None:
        self.config = config

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
    """A base class for trees with labels at any nodes; predictions are for the root."""

    def labelled_nodes(self, model: Model, batch: Trees) -> LabelledNodes:
        """Return the states of a batch and its labelled nodes.

        If the layer computes no states of phrases, each node has the state of its sentence.
        """
        forest, inputs = collate(batch, model)
        at_nodes = np.concatenate([one.labels for one in batch])
        labelled = np.flatnonzero(at_nodes != UNLABELLED)
        if model.layer.phrases:
            states, row_of = model.states(forest, inputs)
        else:
            states, row_of = model.sentences(forest, inputs), forest.batch
        rows = row_of.index_select(0, torch.from_numpy(labelled).to(states.device))
        return LabelledNodes(forest, at_nodes[labelled], states, row_of, rows)

    def node_weights(self, batch: Trees) -> Floats:
        """Return (L,) the weight of each labelled node, which is the weight of its example."""
        return np.repeat([one.weight for one in batch], [one.labelled for one in batch])

    def from_head(self, outputs: Tensor) -> Tensor:
        """Return (n, T) predictions from the outputs of the head at the roots."""
        raise NotImplementedError

    @torch.no_grad()
    def predict(self, model: Model, examples: Trees) -> Floats:
        """Return (n, T), the predictions for the roots."""
        model.eval()
        parts = []
        for group in pieces(examples):
            forest, inputs = collate(group, model)
            outputs = model.head(model.sentences(forest, inputs))
            parts.append(self.from_head(outputs).double().cpu().numpy())
        return np.concatenate(parts)


class ClassesTask(NodesTask):
    """Trees with classes at the root or at other nodes."""

    metric = "accuracy"
    class_weights: Floats | None = None  # (K,) the weight of each class in the loss
    of_phrases = False  # whether the phrases of a sentence are examples already

    def loss(self, model: Model, batch: Trees, rng: Rng, whole: Trees | None = None) -> Tensor:
        """Return the loss of all labelled nodes, or of the sentences and sampled phrases."""
        assert isinstance(model.head, heads.Classifier)
        every = batch if whole is None else whole
        # the numbers of trees, of labelled nodes and of labelled roots that the loss is divided by
        trees, nodes = len(every), sum(one.labelled for one in every)
        roots = sum(map(_counted_root, every))
        # labelled phrases that are no nodes of the tree are sampled as trees of their own
        if (not model.layer.phrases or self.config.shape == "balanced") and not self.of_phrases:
            spans = sum(min(self.config.spans, len(one.spans)) for one in every)
            trees, nodes = trees + spans, nodes + spans
            batch = [each for one in batch for each in with_spans(one, self.config.spans, rng)]
        found = self.labelled_nodes(model, batch)
        states, device = found.states, found.states.device
        labels, weights = torch.from_numpy(found.labels).to(device), None
        if self.class_weights is not None or any(one.weight != 1 for one in batch):
            classes = 1.0 if self.class_weights is None else self.class_weights[found.labels]
            weights = torch.from_numpy(self.node_weights(batch) * classes).to(states)
        loss = model.head.loss(states, labels, found.rows, weights)
        if self.config.loss_over == "trees":
            # NOTE(paper): not the mean over labelled nodes, 1/m, but their sum over the number of trees.
            return loss / trees
        loss = loss / max(1, nodes)
        if self.config.root_weight:
            some = [place for place, sentence in enumerate(batch) if _counted_root(sentence)]
            gold = torch.tensor([batch[place].label for place in some], dtype=torch.int64, device=device)
            of_roots = found.row_of[found.forest.roots[some]]
            loss = loss + self.config.root_weight * model.head.loss(states, gold, of_roots) / max(1, roots)
        return loss

    def from_head(self, outputs: Tensor) -> Tensor:
        """Return (n, K) probabilities of the classes."""
        return outputs.softmax(dim=1)

    @torch.no_grad()
    def phrase_accuracy(self, model: Model, examples: Trees) -> float:
        """Return the accuracy on all labelled phrases, including whole sentences."""
        model.eval()
        rng, hits, total = np.random.default_rng(0), 0, 0
        for group in pieces(examples):
            own = [each for one in group for each in with_spans(one, len(one.spans), rng)]
            found = self.labelled_nodes(model, own)
            chosen = model.head(found.states).argmax(dim=1).index_select(0, found.rows).cpu().numpy()
            hits += int((chosen == found.labels).sum())
            total += len(chosen)
        return hits / max(1, total)

    def metrics(self, predicted: Floats, examples: Trees) -> dict[str, float]:
        """Return accuracy, macro F1 of the classes that occur, and mean loss, at the roots."""
        return class_figures(predicted, np.array([sentence.label for sentence in examples]))


class VectorsTask(NodesTask):
    """A base class for trees whose nodes have vectors of values: numbers or labels."""

    def loss(self, model: Model, batch: Trees, rng: Rng, whole: Trees | None = None) -> Tensor:
        """Return the mean loss of all nodes that have values."""
        assert isinstance(model.head, heads.Regressor | heads.MultiLabelClassifier)
        found = self.labelled_nodes(model, batch)
        # targets in the order of the nodes: the label of a node is a row of its tree's targets
        known = [(one.targets, one.labels) for one in batch if one.targets is not None]
        targets = np.concatenate([rows[labels[labels != UNLABELLED]] for rows, labels in known])
        weights = self.node_weights(batch).astype(np.float32)[:, None]
        y, w = (torch.from_numpy(values).to(found.states.device) for values in (targets, weights))
        loss = model.head.loss(found.states, y, found.rows, w.expand(-1, y.shape[1]))
        return loss / max(1, sum(one.labelled for one in whole or batch))

    def gold(self, examples: Trees) -> Floats:
        """Return (n, T) the values of the roots."""
        roots = [one.targets[one.label] for one in examples if one.targets is not None]
        return np.array(roots, dtype=np.float64)


class NumbersTask(VectorsTask):
    """Numbers, trained with Huber's loss of the standardised numbers."""

    metric = "spearman"

    def __init__(self, config: TrainConfig, model: Model) -> None:
        super().__init__(config)
        self.spec = model.output_spec

    def from_head(self, outputs: Tensor) -> Tensor:
        """Return (n, T) numbers on their own scale."""
        return torch.from_numpy(self.spec.restored(outputs.double().cpu().numpy()))

    def metrics(self, predicted: Floats, examples: Trees) -> dict[str, float]:
        """Return the metrics of the numbers, and the loss."""
        gold = self.gold(examples)
        errors = torch.from_numpy(self.spec.standardised(predicted) - gold)
        loss = float(functional.huber_loss(errors, torch.zeros_like(errors)))
        return {**number_figures(predicted, self.spec.restored(gold), self.spec.scale), "loss": loss}


class LabelsTask(VectorsTask):
    """Several labels at once, trained with the binary cross-entropy of each."""

    metric = "micro_f1"

    def from_head(self, outputs: Tensor) -> Tensor:
        """Return (n, K) probabilities of the labels."""
        return outputs.double().sigmoid()

    def metrics(self, predicted: Floats, examples: Trees) -> dict[str, float]:
        """Return micro and macro F1 at thresholds of 1/2, and the loss."""
        gold, names = self.gold(examples).astype(np.int64), [str(k) for k in range(predicted.shape[1])]
        return label_report(names, predicted, gold, [0.5] * len(names)).figures


def _counted_root(sentence: PreparedTree) -> bool:
    return not sentence.inner and sentence.label != UNLABELLED


def with_spans(sentence: PreparedTree, count: int, rng: Rng) -> list[PreparedTree]:
    """Return a sentence and at most `count` random labelled phrases, as trees of their own."""
    # NOTE(paper): the released program passes no gradient from the sampled spans to the forward LSTM; here all get it.
    picked = sentence.spans
    if len(picked) > count:
        picked = picked[rng.choice(len(picked), size=count, replace=False)]
    return [sentence, *(part(sentence, start, end, label) for start, end, label in picked.tolist())]


class RatedPair(NamedTuple):
    """Two trees and their rating or class number; `source` may name their data set."""

    left: PreparedTree
    right: PreparedTree
    rating: float
    source: str = ""


Pairs = Sequence[RatedPair]


class PairsTask(TreeTask):
    """Two trees and a rating on the model's scale (Sec. 4.2)."""

    metric = "pearson"

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
        assert isinstance(model.head, heads.Similarity | heads.CosineSimilarity)
        left, right = self.vectors(model, batch)
        y = torch.tensor([model.output_spec.place(pair.rating, self.config.scale) for pair in batch])
        weights = left.new_tensor([pair.left.weight for pair in batch])
        own = None if bool((weights == 1).all()) else weights  # the compiled loss has no weights
        loss = model.head.loss(left, right, y.to(left.device, torch.float32), own)
        return loss if whole is None else loss * (len(batch) / len(whole))

    def from_head(self, model: Model, outputs: Tensor) -> Floats:
        """Return (n,) the ratings from the outputs of the head."""
        y = model.head.score(outputs) if isinstance(model.head, heads.Similarity) else outputs
        ratings: Floats = model.output_spec.rating(y.double().cpu().numpy(), self.config.scale)
        return ratings

    @torch.no_grad()
    def predict(self, model: Model, examples: Pairs) -> Floats:
        """Return the prediction for each pair, as `from_head` returns it."""
        model.eval()
        outputs = (model.head(*self.vectors(model, group)) for group in pieces(examples))
        return np.concatenate([self.from_head(model, one) for one in outputs])

    def metrics(self, predicted: Floats, examples: Pairs) -> dict[str, float]:
        """Return Pearson's r, Spearman's rho and the mean squared error."""
        return correlations(predicted, np.array([pair.rating for pair in examples]))


class PairClassesTask(PairsTask):
    """Classes of pairs of trees; `rating` of a pair is the number of its class."""

    metric = "accuracy"
    class_weights: Floats | None = None  # (K,) the weight of each class in the loss

    def loss(self, model: Model, batch: Pairs, rng: Rng, whole: Pairs | None = None) -> Tensor:
        """Return the mean loss of a batch of pairs."""
        assert isinstance(model.head, heads.PairClassifier)
        left, right = self.vectors(model, batch)
        gold = torch.tensor([int(pair.rating) for pair in batch], device=left.device)
        weights = left.new_tensor([pair.left.weight for pair in batch])
        if self.class_weights is not None:
            weights = weights * torch.from_numpy(self.class_weights).to(weights)[gold]
        losses = functional.cross_entropy(model.head(left, right), gold, reduction="none")
        return (losses * weights).sum() / len(whole or batch)

    def from_head(self, model: Model, outputs: Tensor) -> Floats:
        """Return (n, K) probabilities of the classes."""
        return outputs.softmax(dim=1).double().cpu().numpy()

    def metrics(self, predicted: Floats, examples: Pairs) -> dict[str, float]:
        """Return accuracy, macro F1 and the loss."""
        return class_figures(predicted, np.array([int(pair.rating) for pair in examples]))
