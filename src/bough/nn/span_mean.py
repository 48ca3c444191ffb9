"""Phrases without a tree inside them: each is the mean of its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bough.nn.encoder import Encoder
from bough.nn.leaf_lstm import leaves_in_order
from bough.nn.registry import register
from bough.trees.forest import Forest


@register
class SpanMean(Encoder):
    """The mean of x over the words below a node, through one layer: what a tree has to be better than.

        h_j = tanh(W (1/n Σ_{k below j} x_k) + b)

    Args:
        input_size: X.
        hidden_size: D.
        device: of the weights.
        dtype: of the weights.

    Shape:
        x (N, X), a forest of N nodes -> h (N, D); x counts at leaves alone.

    Examples:
        >>> import torch
        >>> from bough import Forest, Tree
        >>> from bough.nn import SpanMean
        >>> SpanMean(300, 150)(torch.randn(3, 300), Forest([Tree(parents=[2, 2, -1])])).shape
        torch.Size([3, 150])
    """

    name = "span-mean"
    reads = "constituency"
    W: nn.Parameter
    b: nn.Parameter

    def __init__(
        self, input_size: int, hidden_size: int, *, device: Any = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__(input_size, hidden_size, device=device, dtype=dtype)
        self.weight("W", hidden_size, input_size, fan_in=input_size)
        self.weight("b", hidden_size, fan_in=input_size)
        self.reset_parameters()

    @property
    def shares(self) -> bool:
        return False  # a mean is cheaper than to find its equal

    def input_nodes(self, forest: Forest) -> Tensor:
        """(M,) the leaves, tree after tree, each tree's from left to right."""
        return leaves_in_order(forest)

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        before = np.cumsum([0, *(len(tree.leaves) for tree in forest.trees)])
        bare = [tree if tree.tokens is None else tree.replace(tokens=None) for tree in forest.trees]
        spans = np.concatenate([tree.spans + start for tree, start in zip(bare, before, strict=False)])
        starts, ends = (torch.from_numpy(side).to(x.device) for side in spans.T.copy())
        wide = torch.float32 if x.device.type == "mps" else torch.float64  # a sum of very many words is long
        sums = torch.cat([x.new_zeros(1, x.shape[1]), x]).to(wide).cumsum(dim=0)  # (M + 1, X)
        mean = (sums.index_select(0, ends) - sums.index_select(0, starts)) / (ends - starts).unsqueeze(1)
        h = torch.tanh(nn.functional.linear(mean.to(x.dtype), self.W, self.b))  # (N, D)
        return h, torch.arange(len(h), device=x.device)
