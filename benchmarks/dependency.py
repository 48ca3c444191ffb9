"""A training step of the Dependency Tree-LSTM on SICK."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.corpora import Corpus
from benchmarks.floors import HIDDEN, SCALE
from bough import Forest
from bough.nn import ChildSumTreeLSTM, Similarity
from bough.train.optimizer import adagrad


@dataclass(frozen=True)
class Pairs:
    """A forest of left and right trees in turn, the table's row for each node, and the pairs' ratings."""

    forest: Forest
    ids: Tensor
    ratings: Tensor


def pairs_of(corpus: Corpus, ratings: Tensor, start: int, count: int, *, shared: bool) -> Pairs:
    forest = corpus.forest(2 * start, 2 * count, shared=shared)
    return Pairs(forest, corpus.ids(2 * start, 2 * count), ratings[start : start + count])


class RelatednessStep:
    """Forward, divergence from the ratings, backward to the weights, AdaGrad; the words' vectors are fixed."""

    def __init__(self, words: int, d: int = 150, x: int = 300) -> None:
        self.layer = ChildSumTreeLSTM(x, d, output_gate=False)
        self.head = Similarity(d, hidden=HIDDEN, classes=SCALE)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Pairs) -> None:
        forest = batch.forest
        rows = self.table.index_select(0, batch.ids.index_select(0, self.layer.input_nodes(forest)))
        h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
        sentences = h.index_select(0, forest.unit_of.index_select(0, forest.roots))
        loss = self.head.loss(sentences[::2], sentences[1::2], batch.ratings)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
