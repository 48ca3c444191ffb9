"""A training step of the Constituency Tree-LSTM on SST, and what it is held against."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.corpora import Corpus
from benchmarks.recursion import climb, nary
from bough import Forest
from bough.nn import Classifier, NaryTreeLSTM
from bough.train.optimisers import adagrad

CLASSES = 5


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
        self.optimiser = adagrad([*self.layer.parameters(), *self.head.parameters()])

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
        self.optimiser.zero_grad()
        (losses / len(batch.forest)).backward()
        self.optimiser.step()


class SentimentFloor:
    """The matmuls of a step and nothing else, no subtree shared."""

    def __init__(self, nodes: int, d: int = 150, x: int = 300) -> None:
        self.x, self.dx = torch.randn(nodes, x), torch.randn(nodes, 2 * d)
        self.W = torch.randn(2 * d, x)
        self.W_t = self.W.t().contiguous()
        self.hs, self.dg = torch.randn(nodes, 2 * d), torch.randn(nodes, 5 * d)
        self.U = torch.randn(2 * d, 5 * d)
        self.U_t = self.U.t().contiguous()
        self.h, self.dz = torch.randn(nodes, d), torch.randn(nodes, CLASSES)
        self.V = torch.randn(d, CLASSES)
        self.V_t = self.V.t().contiguous()

    @torch.no_grad()
    def run(self, forest: Forest) -> None:
        leaves, levels = forest.leaves, forest.slices[1:]
        x, dx = self.x[:leaves], self.dx[:leaves]
        hs, dg = self.hs[: forest.units - leaves], self.dg[: forest.units - leaves]
        h, dz = self.h[: forest.units], self.dz[: forest.units]
        torch.mm(x, self.W_t)
        for start, end in levels:
            torch.mm(hs[start - leaves : end - leaves], self.U)
        torch.mm(h, self.V)
        torch.mm(dz, self.V_t)
        torch.mm(dz.t(), h)
        for start, end in reversed(levels):
            torch.mm(dg[start - leaves : end - leaves], self.U_t)
        torch.mm(hs.t(), dg)
        torch.mm(dx, self.W)
        torch.mm(dx.t(), x)
