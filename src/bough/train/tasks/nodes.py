"""The tasks of trees: classes, numbers or several labels. The loss is over labelled nodes, metrics over roots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bough.models.batching import UNLABELLED, PreparedTree, collate, part
from bough.models.metrics import class_figures, label_report, number_figures
from bough.models.model import Model
from bough.nn.heads import Classifier, MultiLabelClassifier, Regressor
from bough.train.config import TrainConfig
from bough.train.tasks.task import Floats, Indices, Rng, Trees, TreeTask, pieces
from bough.trees.forest import Forest


class LabelledNodes(NamedTuple):
    """The labelled nodes of a batch: `labels` (L,), and `rows` (L,), the row of each one's state in `states` (R, D)."""

    forest: Forest
    labels: Indices
    states: Tensor
    row_of: Tensor  # (N,) the row of the state of every node, labelled or not
    rows: Tensor


class NodesTask(TreeTask):
    """A base class for trees with labels at the root or at other nodes; predictions are for the root."""

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
        """Return the loss of all labelled nodes; if phrases are no nodes, of the sentences and sampled phrases."""
        assert isinstance(model.head, Classifier)
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
        """Return the accuracy, the macro F1 of the classes that occur, and the mean loss, all at the roots."""
        return class_figures(predicted, np.array([sentence.label for sentence in examples]))


class VectorsTask(NodesTask):
    """A base class for trees whose root, or other nodes, have a vector of values: numbers or labels."""

    def loss(self, model: Model, batch: Trees, rng: Rng, whole: Trees | None = None) -> Tensor:
        """Return the mean loss of all nodes that have values."""
        assert isinstance(model.head, Regressor | MultiLabelClassifier)
        found = self.labelled_nodes(model, batch)
        # the rows of the targets in the order of the nodes: the label of a node is a row of its tree's targets
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
    """Return a sentence and at most `count` of its labelled phrases, drawn at random, as trees of their own."""
    # NOTE(paper): the released program passes no gradient from the sampled spans to the forward LSTM; here all get it.
    picked = sentence.spans
    if len(picked) > count:
        picked = picked[rng.choice(len(picked), size=count, replace=False)]
    return [sentence, *(part(sentence, start, end, label) for start, end, label in picked.tolist())]
