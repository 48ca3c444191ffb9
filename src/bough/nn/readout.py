"""Readout of a forest by attention: a vector per tree, the weighted mean of its nodes."""

from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from bough.nn.base import UniformInit
from bough.trees.forest import Forest


class AttentionReadout(UniformInit):
    """Attention over the nodes of a tree (Yang et al., 2016), also called attentional pooling.

        m_j = tanh(W_m h_j + b_m),  α = softmax_j(w · m_j),  v = Σ_j α_j h_j

    For the maximum, mean or sum over the nodes, see `Forest.pool`.

    Args:
        hidden_size: the width D of a state.
        over: the nodes of a tree that count: all "nodes", the "leaves" or the "roots".
        device: where the weights are made.
        dtype: their type.

    Shape:
        h (N, D), a forest of N nodes -> (trees, D); zeros for a graph without nodes.

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> bough.nn.AttentionReadout(150)(torch.randn(5, 150), forest).shape
        torch.Size([2, 150])
    """

    shown = ("over",)

    def __init__(
        self, hidden_size: int, *, over: Literal["nodes", "leaves", "roots"] = "nodes", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.hidden_size, self.over = hidden_size, over
        self.weight("W_m", hidden_size, hidden_size, fan_in=hidden_size)
        self.weight("b_m", hidden_size, fan_in=hidden_size)
        self.weight("w", hidden_size, fan_in=hidden_size)
        self.reset_parameters()

    def forward(self, h: Tensor, forest: Forest) -> Tensor:
        """Return a vector per tree (trees, D), from h (N, D)."""
        self.check_weights()
        scores = torch.tanh(functional.linear(h, self.W_m, self.b_m)) @ self.w  # (N,)
        largest = forest.pool(scores.detach(), "max", self.over).index_select(0, forest.batch)
        # at most 0 for the rows that count; exp of another row could overflow
        weights = (scores - largest).clamp_max(0).exp().unsqueeze(1)  # (N, 1)
        total = forest.pool(weights, "sum", self.over).clamp_min(
            1
        )  # 0 only without rows, and otherwise at least 1
        return forest.pool(weights * h, "sum", self.over) / total
