"""Pairs with a rating: two sentences and how near their meanings are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bough.models.batching import Sentence, collate
from bough.models.metrics import correlations
from bough.models.model import Model
from bough.nn.heads import Similarity
from bough.train.config import TrainConfig
from bough.train.tasks.batch_shard import Share
from bough.train.tasks.pair_features import Beside
from bough.train.tasks.task import Floats, Indices, Sized, of_like_length, pieces, shuffled, sizes_of


class Rated(NamedTuple):
    """Two sentences, how near they are, and which source beside the data set they are of, if any."""

    left: Sentence
    right: Sentence
    rating: float
    source: str = ""


class PairsTask:
    """Two trees and a rating on the model's own scale (Sec. 4.2)."""

    metric = "pearson"

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        self.beside = Beside()

    def start(self, examples: Sequence[Rated], model: Model) -> None:
        """Centre and scale the features of the pairs."""
        self.beside.settle(examples, model)

    def batches(self, examples: Sequence[Rated], rng: np.random.Generator) -> list[Indices]:
        if self.config.encoder:
            return of_like_length(self.sizes(examples), self.config.batch_size, rng)
        return shuffled(len(examples), self.config.batch_size, rng)

    def sizes(self, examples: Sequence[Rated]) -> Indices:
        """(n,) nodes of each, both sides together."""
        if isinstance(examples, Sized):
            return examples.sizes
        return sizes_of([pair.left for pair in examples]) + sizes_of([pair.right for pair in examples])

    def _vectors(self, model: Model, share: Share[Rated]) -> tuple[Tensor, ...]:
        count, pairs = len(share.own), len(share.whole)
        places = [side + place for side in (0, pairs) for place in range(share.start, share.end)]
        within = None if share.all else (_sides(share.whole), places)
        forest, ids = collate(_sides(share.own), model, within)
        # left with right, right with left
        others = torch.arange(len(forest), device=forest.device).roll(count)
        return model.sentences(model.look_up(forest, ids), forest, others).chunk(2)

    def loss(self, model: Model, batch: Sequence[Rated] | Share[Rated], rng: np.random.Generator) -> Tensor:
        """Of a batch of pairs."""
        assert isinstance(model.head, Similarity)
        share = Share.of(batch)
        left, right = self._vectors(model, share)
        if self.config.dropout and model.training:
            left, right = (self._dropped(side, share) for side in (left, right))
        y = torch.tensor([model.purpose.place(pair.rating, self.config.scale) for pair in share.own])
        f = self.beside.of(share.own, model)
        return share.part(model.head.loss(left, right, y.to(left.device, torch.float32), f))

    def _dropped(self, side: Tensor, share: Share[Rated]) -> Tensor:
        # NOTE(paper): the text does not say how dropout was drawn; here each sentence has a mask of its own.
        keep = torch.nn.functional.dropout(
            side.new_ones(len(share.whole), side.shape[1]), self.config.dropout
        )
        return side * keep[share.start : share.end]

    @torch.no_grad()
    def predict(self, model: Model, examples: Sequence[Rated]) -> Floats:
        """(n,) the predicted ratings."""
        assert isinstance(model.head, Similarity)
        model.eval()
        parts = []
        for group in pieces(examples):
            left, right = self._vectors(model, Share.of(group))
            log_p = model.head(left, right, self.beside.of(group, model))
            parts.append(model.head.score(log_p).double().cpu().numpy())
        ratings: Floats = model.purpose.rating(np.concatenate(parts), self.config.scale)
        return ratings

    def metrics(self, predicted: Floats, examples: Sequence[Rated]) -> dict[str, float]:
        """See `correlations`."""
        return correlations(predicted, np.array([pair.rating for pair in examples]))


def _sides(pairs: Sequence[Rated]) -> list[Sentence]:
    """All left ones, then all right ones."""
    both = list(pairs)
    return [*(pair.left for pair in both), *(pair.right for pair in both)]
