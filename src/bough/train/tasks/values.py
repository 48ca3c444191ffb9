"""The tasks of numbers, of several labels at once, and of classes of pairs."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bough.models.batching import UNLABELLED
from bough.models.metrics import class_figures, label_report, number_figures
from bough.models.model import Model
from bough.nn.heads import MultiLabelClassifier, PairClassifier, Regressor
from bough.train.config import TrainConfig
from bough.train.tasks.classes import NodesTask
from bough.train.tasks.pairs import Pairs, PairsTask
from bough.train.tasks.task import Floats, Rng, Trees


class VectorsTask(NodesTask):
    """A base class for trees whose root, or other nodes, have a vector of values: numbers or labels."""

    def loss(self, model: Model, batch: Trees, rng: Rng, whole: Trees | None = None) -> Tensor:
        """Return the mean loss of all nodes that have values."""
        assert isinstance(model.head, Regressor | MultiLabelClassifier)
        found = self.labelled_nodes(model, batch)
        # the rows of the targets in the order of the nodes: the label of a node is a row of its tree's targets
        targets = np.concatenate(
            [one.targets[one.labels[one.labels != UNLABELLED]] for one in batch if one.targets is not None]
        )
        weights = self.node_weights(batch).astype(np.float32)[:, None]
        y, w = (torch.from_numpy(values).to(found.states.device) for values in (targets, weights))
        loss = model.head.loss(found.states, y, found.rows, w.expand(-1, y.shape[1]))
        return loss / max(1, sum(one.labelled for one in whole or batch))

    def gold(self, examples: Trees) -> Floats:
        """Return (n, T) the values of the roots."""
        return np.array(
            [one.targets[one.label] for one in examples if one.targets is not None], dtype=np.float64
        )


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


class PairClassesTask(PairsTask):
    """Classes of pairs of trees; `rating` of a pair is the number of its class."""

    metric = "accuracy"

    def __init__(self, config: TrainConfig, class_weights: Floats | None = None) -> None:
        super().__init__(config)
        self.class_weights = class_weights

    def loss(self, model: Model, batch: Pairs, rng: Rng, whole: Pairs | None = None) -> Tensor:
        """Return the mean loss of a batch of pairs."""
        assert isinstance(model.head, PairClassifier)
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
