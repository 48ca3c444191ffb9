"""Training steps to time: the Constituency Tree-LSTM on SST, and the Dependency Tree-LSTM on SICK."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.corpora import Batch
from benchmarks.floors import CLASSES, HIDDEN, SCALE
from benchmarks.recursion import climb, nary
from bough import Forest
from bough.nn import ChildSumTreeLSTM, Classifier, NaryTreeLSTM, Similarity
from bough.train.optimizer import adagrad

X, D = 300, 150  # widths of an input and of a state


class SentimentStep:
    """Run forward, the loss of every node, backward to the weights and the word vectors, and AdaGrad."""

    def __init__(self, words: int, d: int = D, x: int = X) -> None:
        self.layer, self.head = NaryTreeLSTM(x, d, leaf="affine"), Classifier(d, CLASSES)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Batch) -> None:
        forest = batch.forest
        ids = batch.ids.index_select(0, self.layer.input_nodes(forest))
        rows = self.table.index_select(0, ids).requires_grad_()
        h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
        self._learn(self.head.loss(h, batch.targets, forest.unique_of), batch)

    def recursive_step(self, batch: Batch) -> None:
        """Run the step one node at a time."""
        rows = self.table.index_select(0, batch.ids).requires_grad_()
        h, _ = climb(nary(self.layer), rows, batch.forest.trees)
        self._learn(functional.cross_entropy(self.head(h), batch.targets, reduction="sum"), batch)

    def _learn(self, losses: Tensor, batch: Batch) -> None:
        self.optimizer.zero_grad()
        (losses / len(batch.forest)).backward()
        self.optimizer.step()


class RelatednessStep:
    """Run forward, the loss of every pair, backward to the weights, and AdaGrad; the word vectors are fixed."""

    def __init__(
        self, words: int, d: int = D, x: int = X, *, output_gate: bool = False, by_levels: bool = False
    ) -> None:
        self.layer = ByLevels() if by_levels else ChildSumTreeLSTM(x, d, output_gate=output_gate)
        self.head = Similarity(d, hidden=HIDDEN, classes=SCALE)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Batch) -> None:
        forest, roots = batch.forest, batch.forest.roots
        if isinstance(self.layer, ByLevels):
            sentences = self.layer(self.table.index_select(0, batch.ids), forest).index_select(0, roots)
        else:
            rows = self.table.index_select(0, batch.ids.index_select(0, self.layer.input_nodes(forest)))
            h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
            sentences = h.index_select(0, forest.unique_of.index_select(0, roots))  # (2 * pairs, D)
        loss = self.head.loss(sentences[::2], sentences[1::2], batch.targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


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
