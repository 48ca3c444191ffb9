"""Relatedness on SICK: two sentences and how near their meanings are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bough.data import load_sick, sick_files
from bough.data.sick import Pair
from bough.model.config import Config
from bough.model.model import Model
from bough.model.sentences import Sentence, collate, prepare_all
from bough.nn.heads import Similarity
from bough.training.tasks.task import Floats, Indices, Parse, cut, parse_for, pieces, shuffled
from bough.trees.tree import Tree

Rated = tuple[Sentence, Sentence, float]


class RelatednessTask:
    """SICK: two sentences and how related they are, 1 to 5 (Sec. 4.2)."""

    def __init__(self, config: Config, data: Path) -> None:
        self.config, self.data = config, data
        self.parse: Parse = "dependency" if config.system else parse_for(config, "dependency")

    def read(self, split: str) -> list[Pair]:
        check = self.config.source == "data"
        pairs = load_sick(self.data, split, parse=self.parse, check=check, scale=self.config.scale)
        return cut(pairs, self.config.limit)

    def files(self, split: str) -> list[Path]:
        return sick_files(self.data, split, self.parse)

    def trees(self, examples: Sequence[Pair]) -> Iterator[Tree]:
        return (tree for pair in examples for tree in (pair.left, pair.right))

    def prepare(self, examples: Sequence[Pair], model: Model) -> list[Rated]:
        left, right = (
            prepare_all(side, model) for side in zip(*((p.left, p.right) for p in examples), strict=True)
        )
        return list(zip(left, right, (pair.score for pair in examples), strict=True))

    def to_learn(self, examples: Sequence[Pair], model: Model) -> list[Rated]:
        return self.prepare(examples, model)

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
        y = torch.tensor([score for _, _, score in batch], device=left.device)
        return model.head.loss(left, right, y)

    @torch.no_grad()
    def predict(self, model: Model, examples: Sequence[Rated]) -> Floats:
        """(n,) the predicted ratings."""
        assert isinstance(model.head, Similarity)
        model.eval()
        parts = []
        for group in pieces(examples):
            left, right = self._vectors(model, group)
            parts.append(model.head.score(model.head(left, right)).double().cpu().numpy())
        return np.concatenate(parts)

    def metrics(self, predicted: Floats, examples: Sequence[Rated]) -> dict[str, float]:
        """See `correlations`."""
        return correlations(predicted, np.array([score for _, _, score in examples]))


def correlations(predicted: Floats, gold: Floats) -> dict[str, float]:
    """Pearson's r, Spearman's rho and the mean squared error; no correlation, 0, where one side is constant."""
    from scipy import stats

    related = np.ptp(predicted) > 0 and np.ptp(gold) > 0
    return {
        "pearson": float(stats.pearsonr(predicted, gold).statistic) if related else 0.0,
        "spearman": float(stats.spearmanr(predicted, gold).statistic) if related else 0.0,
        "mse": float(((predicted - gold) ** 2).mean()),
    }
