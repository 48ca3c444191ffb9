"""Pairs with a rating: two sentences and how near their meanings are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bough.models.batching import Sentence, collate
from bough.models.metrics import correlations
from bough.models.model import Model
from bough.models.pair_features import rows
from bough.nn.heads import Similarity
from bough.train.config import TrainConfig
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

    def _vectors(self, model: Model, pairs: Sequence[Rated]) -> tuple[Tensor, ...]:
        both = [*(pair.left for pair in pairs), *(pair.right for pair in pairs)]
        forest, ids = collate(both, model)
        # left with right, right with left
        others = torch.arange(len(forest), device=forest.device).roll(len(pairs))
        return model.sentences(model.look_up(forest, ids), forest, others).chunk(2)

    def loss(
        self,
        model: Model,
        batch: Sequence[Rated],
        rng: np.random.Generator,
        whole: Sequence[Rated] | None = None,
    ) -> Tensor:
        """Return the mean loss of a batch of pairs."""
        assert isinstance(model.head, Similarity)
        left, right = self._vectors(model, batch)
        # NOTE(paper): the text does not say how dropout was drawn; here each sentence has a mask of its own.
        left, right = (
            functional.dropout(side, self.config.dropout, model.training) for side in (left, right)
        )
        y = torch.tensor([model.purpose.place(pair.rating, self.config.scale) for pair in batch])
        f = self.beside.of(batch, model)
        loss: Tensor = model.head.loss(left, right, y.to(left.device, torch.float32), f)
        return loss if whole is None else loss * (len(batch) / len(whole))

    @torch.no_grad()
    def predict(self, model: Model, examples: Sequence[Rated]) -> Floats:
        """(n,) the predicted ratings."""
        assert isinstance(model.head, Similarity)
        model.eval()
        parts = []
        for group in pieces(examples):
            left, right = self._vectors(model, group)
            log_p = model.head(left, right, self.beside.of(group, model))
            parts.append(model.head.score(log_p).double().cpu().numpy())
        ratings: Floats = model.purpose.rating(np.concatenate(parts), self.config.scale)
        return ratings

    def metrics(self, predicted: Floats, examples: Sequence[Rated]) -> dict[str, float]:
        """See `correlations`."""
        return correlations(predicted, np.array([pair.rating for pair in examples]))


class TwoSides(Protocol):
    """A pair of sentences."""

    @property
    def left(self) -> Sentence: ...
    @property
    def right(self) -> Sentence: ...


class Beside:
    """Remembers the features of every pair as long as its left sentence lives."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Sentence, tuple[Sentence, Tensor]] = WeakKeyDictionary()

    def of(self, pairs: Sequence[TwoSides], model: Model) -> Tensor | None:
        """(pairs, F), or None for a model that has no features."""
        if not model.config.pair_features:
            return None
        return torch.stack([self._row(pair.left, pair.right) for pair in pairs]).to(model.table.device)

    def _row(self, left: Sentence, right: Sentence) -> Tensor:
        if left not in self._known or self._known[left][0] is not right:
            assert left.side is not None
            assert right.side is not None
            self._known[left] = (right, torch.from_numpy(rows([(left.side, right.side)])[0]))
        return self._known[left][1]

    def settle(self, pairs: Sequence[TwoSides], model: Model) -> None:
        """Centre and scale the features of a new model as those of its training pairs are."""
        if model.config.pair_features:
            assert isinstance(model.head, Similarity)
            found = self.of(pairs, model)
            assert found is not None
            model.head.settle(found)


def set_rarity(model: Model, counts: Mapping[str, int], sentences: int) -> None:
    """How rare the words of a new model are: 1 for what training has not, log(1 + n / c) / log(1 + n) else.

    `counts` are the words c of n sentences.
    """
    found = dict.fromkeys(range(len(model.rarity)), 0)
    for word, count in counts.items():
        found[int(model.index.get(word, 0) or model.index.get(word.lower(), 0))] += count
    found[0] = 0
    for row, count in found.items():
        if count:
            model.rarity[row] = math.log1p(sentences / count) / math.log1p(sentences)
