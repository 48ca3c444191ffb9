"""Training steps to time: the Constituency Tree-LSTM on SST, and the Dependency Tree-LSTM on SICK."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.corpora import Corpus
from benchmarks.floors import CLASSES, HIDDEN, SCALE
from benchmarks.recursion import climb, nary
from bough import Forest
from bough.nn import ChildSumTreeLSTM, Classifier, NaryTreeLSTM, Similarity
from bough.train.optimizer import adagrad

X, D = 300, 150  # widths of an input and of a state


@dataclass(frozen=True)
class Batch:
    """A forest, the row of the word table for each node, and the targets: classes of nodes or ratings of pairs."""

    forest: Forest
    ids: Tensor
    targets: Tensor


def batch_of(corpus: Corpus, start: int, count: int, *, shared: bool = True) -> Batch:
    """Return a batch of `count` trees of SST."""
    forest = corpus.forest(start, count, shared=shared)
    return Batch(forest, corpus.ids(start, count), corpus.classes(start, count))


def pairs_of(corpus: Corpus, ratings: Tensor, start: int, count: int, *, shared: bool) -> Batch:
    """Return a batch of `count` pairs of SICK, left and right trees in turn."""
    forest = corpus.forest(2 * start, 2 * count, shared=shared)
    return Batch(forest, corpus.ids(2 * start, 2 * count), ratings[start : start + count])


class SentimentStep:
    """Run forward, the loss of every node, backward to the weights and the word vectors, and AdaGrad."""

    def __init__(self, words: int, d: int = D, x: int = X) -> None:
        self.layer, self.head = NaryTreeLSTM(x, d, leaf="affine"), Classifier(d, CLASSES)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Batch) -> None:
        forest = batch.forest
        rows = self._rows(batch.ids.index_select(0, self.layer.input_nodes(forest)))
        h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
        self._learn(self.head.loss(h, batch.targets, forest.unique_of), batch)

    def recursive_step(self, batch: Batch) -> None:
        """Run the step one node at a time."""
        h, _ = climb(nary(self.layer), self._rows(batch.ids), batch.forest.trees)
        self._learn(functional.cross_entropy(self.head(h), batch.targets, reduction="sum"), batch)

    def _rows(self, ids: Tensor) -> Tensor:
        return self.table.index_select(0, ids).requires_grad_()

    def _learn(self, losses: Tensor, batch: Batch) -> None:
        self.optimizer.zero_grad()
        (losses / len(batch.forest)).backward()
        self.optimizer.step()


class RelatednessStep:
    """Run forward, the loss of every pair, backward to the weights, and AdaGrad; the word vectors are fixed."""

    def __init__(self, words: int, d: int = D, x: int = X, *, output_gate: bool = False) -> None:
        self.layer = ChildSumTreeLSTM(x, d, output_gate=output_gate)
        self.head = Similarity(d, hidden=HIDDEN, classes=SCALE)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Batch) -> None:
        forest = batch.forest
        rows = self.table.index_select(0, batch.ids.index_select(0, self.layer.input_nodes(forest)))
        h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
        self.learn(h.index_select(0, forest.unique_of.index_select(0, forest.roots)), batch)

    def learn(self, sentences: Tensor, batch: Batch) -> None:
        """Learn from the vectors of the trees, (2 * pairs, D)."""
        loss = self.head.loss(sentences[::2], sentences[1::2], batch.targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class LevelsStep(RelatednessStep):
    """Run a training step with `ByLevels` as the layer."""

    def __init__(self, batches: Sequence[Batch], words: int) -> None:
        super().__init__(words)
        self.module, self.batches = ByLevels(), batches
        self.optimizer = adagrad([*self.module.parameters(), *self.head.parameters()])

    def __call__(self, number: int) -> None:
        batch = self.batches[number]
        h = self.module(self.table.index_select(0, batch.ids), batch.forest)
        self.learn(h.index_select(0, batch.forest.roots), batch)


class ByLevels(nn.Module):
    """The Child-Sum Tree-LSTM in plain torch: a loop over levels, `index_add` for the children, autograd."""

    def __init__(self) -> None:
        super().__init__()
        self.W_iou, self.U_iou = nn.Linear(X, 3 * D), nn.Linear(D, 3 * D, bias=False)
        self.W_f, self.U_f = nn.Linear(X, D), nn.Linear(D, D, bias=False)

    def forward(self, x: Tensor, forest: Forest) -> Tensor:
        iou_x, f_x = (layer(x).index_select(0, forest.node_of) for layer in (self.W_iou, self.W_f))
        h, c = x.new_zeros(0, D), x.new_zeros(0, D)
        for (start, end), edges in zip(forest.slices, forest.edge_slices, strict=True):
            children, parents = forest.children[edges], forest.edge_parents[edges] - start
            h_k, c_k = h[children], c[children]
            h_sum = x.new_zeros(end - start, D).index_add(0, parents, h_k)
            i, o, u = (iou_x[start:end] + self.U_iou(h_sum)).chunk(3, dim=1)
            f = torch.sigmoid(f_x[start:end][parents] + self.U_f(h_k))
            below = x.new_zeros(end - start, D).index_add(0, parents, f * c_k)
            cell = torch.sigmoid(i) * torch.tanh(u) + below
            h, c = torch.cat([h, torch.sigmoid(o) * torch.tanh(cell)]), torch.cat([c, cell])
        return h.index_select(0, forest.unique_of)
