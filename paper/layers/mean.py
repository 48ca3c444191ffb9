"""A sentence as the mean of its words' vectors, the paper's simplest baseline."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from bough import Forest
from bough.nn import BaseLayer, register


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
