"""A training step of the Constituency Tree-LSTM on SST, and what it is held against."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.corpora import Corpus
from benchmarks.floors import CLASSES
from benchmarks.recursion import climb, nary
from bough import Forest
from bough.nn import Classifier, NaryTreeLSTM
from bough.train.optimizer import adagrad


@dataclass(frozen=True)
class Batch:
    """A forest, the table's row for each node, and each node's class."""

    forest: Forest
    ids: Tensor
    labels: Tensor


def batch_of(corpus: Corpus, start: int, count: int, *, shared: bool = True) -> Batch:
    forest = corpus.forest(start, count, shared=shared)
    return Batch(forest, corpus.ids(start, count), corpus.classes(start, count))


class SentimentStep:
    """Forward, loss on every node, backward to the weights and the words' vectors, AdaGrad."""

    def __init__(self, words: int, d: int = 150, x: int = 300) -> None:
        self.layer, self.head = NaryTreeLSTM(x, d), Classifier(d, CLASSES)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Batch) -> None:
        forest = batch.forest
        rows = self._rows(batch.ids.index_select(0, self.layer.input_nodes(forest)))
        h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
        self._learn(self.head.loss(h, batch.labels, forest.unit_of), batch)

    def recursive_step(self, batch: Batch) -> None:
        """The same, one node at a time."""
        h, _ = climb(nary(self.layer), self._rows(batch.ids), batch.forest.trees)
        self._learn(functional.cross_entropy(self.head(h), batch.labels, reduction="sum"), batch)

    def _rows(self, ids: Tensor) -> Tensor:
        return self.table.index_select(0, ids).requires_grad_()

    def _learn(self, losses: Tensor, batch: Batch) -> None:
        """A loss on every node, summed, a tree's share of it learnt."""
        self.optimizer.zero_grad()
        (losses / len(batch.forest)).backward()
        self.optimizer.step()
