"""Pairs with a rating: two sentences and how near their meanings are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bough.model.config import Config
from bough.model.model import Model
from bough.model.sentences import Sentence, collate
from bough.nn.heads import Similarity
from bough.training.tasks.task import Floats, Indices, pieces, shuffled

Rated = tuple[Sentence, Sentence, float]


class PairsTask:
    """Two trees and a rating on the model's own scale (Sec. 4.2)."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def batches(self, examples: Sequence[Rated], rng: np.random.Generator) -> list[Indices]:
        return shuffled(len(examples), self.config.batch, rng)

    def _vectors(self, model: Model, batch: Sequence[Rated]) -> tuple[Tensor, ...]:
        forest, ids = collate([*(left for left, _, _ in batch), *(right for _, right, _ in batch)], model)
        others = torch.arange(len(forest), device=ids.device).roll(
            len(batch)
        )  # left with right, right with left
        return model.sentences(model.look_up(forest, ids), forest, others).chunk(2)

    def loss(self, model: Model, batch: Sequence[Rated], rng: np.random.Generator) -> Tensor:
        """Of a batch of pairs."""
        assert isinstance(model.head, Similarity)
        left, right = self._vectors(model, batch)
        if self.config.dropout and model.training:
            left, right = (torch.nn.functional.dropout(side, self.config.dropout) for side in (left, right))
        y = torch.tensor([model.purpose.place(rating, self.config.scale) for _, _, rating in batch])
        return model.head.loss(left, right, y.to(left.device, torch.float32))

    @torch.no_grad()
    def predict(self, model: Model, examples: Sequence[Rated]) -> Floats:
        """(n,) the predicted ratings."""
        assert isinstance(model.head, Similarity)
        model.eval()
        parts = []
        for group in pieces(examples):
            left, right = self._vectors(model, group)
            parts.append(model.head.score(model.head(left, right)).double().cpu().numpy())
        ratings: Floats = model.purpose.rating(np.concatenate(parts), self.config.scale)
        return ratings

    def metrics(self, predicted: Floats, examples: Sequence[Rated]) -> dict[str, float]:
        """See `correlations`."""
        return correlations(predicted, np.array([rating for _, _, rating in examples]))


def correlations(predicted: Floats, gold: Floats) -> dict[str, float]:
    """Pearson's r, Spearman's rho and the mean squared error; no correlation, 0, where one side is constant."""
    from scipy import stats

    related = np.ptp(predicted) > 0 and np.ptp(gold) > 0
    return {
        "pearson": float(stats.pearsonr(predicted, gold).statistic) if related else 0.0,
        "spearman": float(stats.spearmanr(predicted, gold).statistic) if related else 0.0,
        "mse": float(((predicted - gold) ** 2).mean()),
    }
