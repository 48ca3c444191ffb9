"""The mean of word vectors, of a sentence or of every phrase: what a tree has to be better than."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough import Forest
from bough.nn import BaseLayer, Children, TreeLayer, register


@register
class MeanVectors(BaseLayer):
    """The mean of x over each tree's nodes.

    Args:
        input_size: the width X of an input row.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes -> (trees, X).

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> paper.layers.MeanVectors(300)(torch.randn(5, 300), forest).shape
        torch.Size([2, 300])
    """

    name = "mean"
    reads = "words"
    phrases = False

    def __init__(self, input_size: int, *, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, input_size, device=device, dtype=dtype)

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        return (self.sentences(x, forest),)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        words = x.index_select(0, forest.input_of.index_select(0, forest.unit_of))  # (N, X)
        sums = x.new_zeros(len(forest), x.shape[1]).index_add(0, forest.tree_of, words)
        return sums / forest.tree_sizes.to(x.dtype).unsqueeze(1)


@register
class SpanMean(TreeLayer):
    """The mean of x over the words below a node, through one layer.

        s_j = Σ_{k below j} x_k,  n_j the number of words below j
        h_j = tanh(W s_j / n_j + v log n_j + b)

    v lets it know how long a phrase is, which a mean does not tell: most single words are neutral, most sentences not.

    Args:
        input_size: X.
        hidden_size: D.
        device: of the weights.
        dtype: of the weights.

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
    W: nn.Parameter
    v: nn.Parameter
    b: nn.Parameter

    def __init__(
        self, input_size: int, hidden_size: int, *, device: Any = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__(input_size, (hidden_size, input_size, 1), device=device, dtype=dtype)
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
