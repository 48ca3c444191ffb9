"""What else there is: a Child-Sum step on SICK's pairs by other libraries where they are installed, in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.dependency import Pairs
from benchmarks.measure import best, interleaved
from bough.nn import ChildSumTreeLSTM, Similarity
from bough.train.optimizer import adagrad

X, D = 300, 150
Encode = Callable[[Tensor, Pairs, int], Tensor]  # x (N, X), a batch and its number -> h (N, D)


def peer_figures(plain: list[Pairs], shared: list[Pairs], words: int, rounds: int) -> dict[str, float]:
    """Trees per second of each, schedules built beforehand, forward, backward and AdaGrad."""
    found: dict[str, tuple[Encode, Iterable[nn.Parameter], list[Pairs]]] = {}
    layer = ChildSumTreeLSTM(X, D)
    found["bough, equal phrases once"] = (
        lambda x, batch, _: layer(x, batch.forest)[0],
        layer.parameters(),
        shared,
    )
    other = ChildSumTreeLSTM(X, D)
    found["bough, nothing shared"] = (
        lambda x, batch, _: other(x, batch.forest)[0],
        other.parameters(),
        plain,
    )
    by_levels = ByLevels()
    found["plain torch by levels"] = (by_levels, by_levels.parameters(), plain)
    if find_spec("treelstm") is not None:
        theirs = PytorchTreeLSTM(plain)
        found["pytorch-tree-lstm"] = (theirs, theirs.parameters(), plain)
    steps = [_Step(encode, weights, batches, words) for encode, weights, batches in found.values()]
    seconds = interleaved(steps, len(plain), rounds)
    trees = sum(len(batch.forest) for batch in plain)
    return {name: trees / best(taken) for name, taken in zip(found, seconds, strict=True)}


class _Step:
    """One training step of any encoder under the same head."""

    def __init__(
        self, encode: Encode, weights: Iterable[nn.Parameter], batches: list[Pairs], words: int
    ) -> None:
        self.encode, self.batches, self.head = encode, batches, Similarity(D)
        self.table = torch.randn(words, X) * 0.1
        self.optimizer = adagrad([*weights, *self.head.parameters()])

    def __call__(self, number: int) -> None:
        batch = self.batches[number]
        h = self.encode(self.table.index_select(0, batch.ids), batch, number)
        sentences = h.index_select(0, batch.forest.roots)
        loss = self.head.loss(sentences[::2], sentences[1::2], batch.ratings)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class ByLevels(nn.Module):
    """The Child-Sum Tree-LSTM as people write it: a loop over levels, `index_add` for the children, autograd."""

    def __init__(self) -> None:
        super().__init__()
        self.W_iou, self.U_iou = nn.Linear(X, 3 * D), nn.Linear(D, 3 * D, bias=False)
        self.W_f, self.U_f = nn.Linear(X, D), nn.Linear(D, D, bias=False)

    def forward(self, x: Tensor, batch: Pairs, number: int) -> Tensor:
        forest = batch.forest
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
        return h.index_select(0, forest.unit_of)


class PytorchTreeLSTM(nn.Module):
    """The package of that name."""

    def __init__(self, batches: list[Pairs]) -> None:
        super().__init__()
        import treelstm

        self.layer = treelstm.TreeLSTM(X, D)
        self.schedules = [_schedule(treelstm, batch) for batch in batches]

    def forward(self, x: Tensor, batch: Pairs, number: int) -> Tensor:
        h: Tensor = self.layer(x, *self.schedules[number])[0]
        return h


def _schedule(treelstm: Any, batch: Pairs) -> tuple[Tensor, Tensor, Tensor]:
    """Node order, parent-child pairs and edge order of a batch, its trees counted through."""
    pairs, first = list[list[int]](), 0
    nodes, edges = list[Tensor](), list[Tensor]()
    for tree in batch.forest.trees:
        own = sorted([int(parent), child] for child, parent in enumerate(tree.parents) if parent >= 0)
        node_order, edge_order = treelstm.calculate_evaluation_orders(
            np.array(own, dtype=np.int64).reshape(-1, 2), len(tree)
        )
        pairs += [[first + parent, first + child] for parent, child in own]
        nodes.append(torch.as_tensor(node_order))
        edges.append(torch.as_tensor(edge_order))
        first += len(tree)
    return torch.cat(nodes), torch.tensor(pairs), torch.cat(edges)
