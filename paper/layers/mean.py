"""The mean of word vectors of every phrase, the baseline without a tree."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from bough.nn import Children, TreeLayer, register


@register
class SpanMean(TreeLayer):
    """The mean of x over the words below a node, through one layer.

        s_j = Σ_{k below j} x_k,  n_j the number of words below j
        h_j = tanh(W s_j / n_j + v log n_j + b)

    v adds the length of a phrase, which a mean loses: most single words are neutral, and most sentences are not.

    Args:
        input_size: X.
        hidden_size: D.

    Shape:
        x (N, X), a forest of N nodes -> h (N, D), s (N, X), n (N, 1); x is read at leaves only.

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[2, 2, -1])])
        >>> h, s, n = paper.layers.SpanMean(300, 150)(torch.randn(3, 300), forest)
        >>> h.shape, n.flatten().tolist()
        (torch.Size([3, 150]), [1.0, 1.0, 2.0])
    """

    name = "span-mean"
    reads = "constituency"

    def __init__(self, input_size: int, hidden_size: int, **kwargs: Any) -> None:
        super().__init__(input_size, (hidden_size, input_size, 1), **kwargs)
        self.leaf_inputs = True
        self.weight("W", hidden_size, input_size, fan_in=input_size)
        self.weight("v", hidden_size, fan_in=input_size)
        self.weight("b", hidden_size, fan_in=input_size)
        self.reset_parameters()

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor, ...]:
        return self._mean(a, a.new_ones(len(a), 1))

    def node(self, a: None, below: Children) -> tuple[Tensor, ...]:
        _, s_k, n_k = below.states
        return self._mean(below.sum(s_k), below.sum(n_k))

    def _mean(self, s: Tensor, n: Tensor) -> tuple[Tensor, ...]:
        return torch.tanh(functional.linear(s / n, self.W, self.b) + n.log() * self.v), s, n
