"""The features of pairs while training: each pair's are worked out once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from bough.models.batching import Sentence
from bough.models.model import Model
from bough.models.pair_features import rows
from bough.nn.heads import Similarity


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
