"""A training step of the Dependency Tree-LSTM on SICK, and the matmuls it is held against."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.corpora import Corpus
from bough import Forest
from bough.nn import ChildSumTreeLSTM, Similarity
from bough.train.optimisers import adagrad

SCALE, HIDDEN = 5, 50


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
        self.optimiser = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Pairs) -> None:
        forest = batch.forest
        rows = self.table.index_select(0, batch.ids.index_select(0, self.layer.input_nodes(forest)))
        h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
        sentences = h.index_select(0, forest.unit_of.index_select(0, forest.roots))
        loss = self.head.loss(sentences[::2], sentences[1::2], batch.ratings)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()


class RelatednessFloor:
    """The matmuls of a step and nothing else, no subtree shared.

    Fixed vectors need no gradient, so the input map has two matmuls, not three.
    """

    def __init__(self, nodes: int, pairs: int, d: int = 150, x: int = 300) -> None:
        self.x, self.da = torch.randn(nodes, x), torch.randn(nodes, 3 * d)
        self.W_t = torch.randn(x, 3 * d)
        self.h, self.dg, self.df = torch.randn(nodes, d), torch.randn(nodes, 2 * d), torch.randn(nodes, d)
        self.U, self.U_t = torch.randn(d, 2 * d), torch.randn(2 * d, d)
        self.U_f, self.U_f_t = torch.randn(d, d), torch.randn(d, d)
        self.maps = [  # of the head: its input, its weight, and the gradient of its output
            (torch.randn(pairs, wide), torch.randn(wide, narrow), torch.randn(pairs, narrow))
            for wide, narrow in ((2 * d, HIDDEN), (HIDDEN, SCALE))
        ]

    @torch.no_grad()
    def run(self, forest: Forest) -> None:
        levels = list(zip(forest.slices, forest.edge_slices, strict=True))[1:]
        x, da = self.x[: forest.units], self.da[: forest.units]
        torch.mm(x, self.W_t)
        for (start, end), edges in levels:
            torch.mm(self.h[start:end], self.U)
            torch.mm(self.h[edges], self.U_f)
        for below, weight, above in self.maps:
            torch.mm(below, weight)
            torch.mm(above, weight.t())
            torch.mm(above.t(), below)
        for (start, end), edges in reversed(levels):
            torch.mm(self.dg[start:end], self.U_t)
            torch.mm(self.df[edges], self.U_f_t)
        inner, edges = slice(forest.leaves, forest.units), slice(0, len(forest.children))
        torch.mm(self.h[inner].t(), self.dg[inner])
        torch.mm(self.h[edges].t(), self.df[edges])
        torch.mm(da.t(), x)
