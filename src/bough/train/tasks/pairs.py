"""The tasks of pairs: two trees, and a rating of how similar they are, or a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bough.models.batching import PreparedTree, collate
from bough.models.metrics import class_figures, correlations
from bough.models.model import Model
from bough.nn.heads import CosineSimilarity, PairClassifier, Similarity
from bough.train.tasks.task import Floats, Rng, TreeTask, pieces


class RatedPair(NamedTuple):
    """Two trees and their rating or class number; `source` may name the data set that the pair comes from."""

    left: PreparedTree
    right: PreparedTree
    rating: float
    source: str = ""


Pairs = Sequence[RatedPair]


class PairsTask(TreeTask):
    """Two trees and a rating on the model's scale (Sec. 4.2)."""

    metric = "pearson"
    loss_metric = "mse"

    def vectors(self, model: Model, pairs: Pairs) -> tuple[Tensor, ...]:
        """Return (pairs, D) the vectors of the left trees and those of the right trees, with dropout in training."""
        both = [*(pair.left for pair in pairs), *(pair.right for pair in pairs)]
        forest, inputs = collate(both, model)
        # the other tree of each pair, for a layer that attends to it: left i is tree i, right i is tree pairs + i
        others = torch.arange(len(forest), device=forest.device).roll(len(pairs))
        sides = model.sentences(forest, inputs, others).chunk(2)
        # NOTE(paper): the text does not say how dropout was drawn; here each sentence has its own mask.
        return tuple(functional.dropout(side, self.config.dropout, model.training) for side in sides)

    def loss(self, model: Model, batch: Pairs, rng: Rng, whole: Pairs | None = None) -> Tensor:
        """Return the mean loss of a batch of pairs."""
        assert isinstance(model.head, (Similarity, CosineSimilarity))
        left, right = self.vectors(model, batch)
        y = torch.tensor([model.output_spec.place(pair.rating, self.config.scale) for pair in batch])
        loss = model.head.loss(left, right, y.to(left.device, torch.float32))
        return loss if whole is None else loss * (len(batch) / len(whole))

    def from_head(self, model: Model, outputs: Tensor) -> Floats:
        """Return (n,) the ratings from the outputs of the head."""
        y = model.head.score(outputs) if isinstance(model.head, Similarity) else outputs
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
