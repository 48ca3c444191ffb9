"""Sentence vectors from the mean of the words, alone or together with the root of a Tree-LSTM."""

from typing import Any

import torch
from torch import Tensor

from bough.nn.base import BaseLayer
from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.registry import register
from bough.trees.forest import Forest


@register
class MeanVectors(BaseLayer):
    """Mean of the inputs of each tree's nodes. It has no weights.

    Args:
        input_size: the width X of an input row.
        device: has no effect.
        dtype: has no effect.

    Shape:
        x (N, X), a forest of N nodes -> (trees, X).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> bough.nn.MeanVectors(300)(torch.randn(5, 300), forest).shape
        torch.Size([2, 300])
    """

    name = "mean"
    reads = "words"
    phrases = False

    def __init__(self, input_size: int, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        super().__init__(input_size, input_size, device=device, dtype=dtype)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        words = x.index_select(0, forest.input_of.index_select(0, forest.unique_of))  # (N, X)
        sums = x.new_zeros(len(forest), x.shape[1]).index_add(0, forest.batch, words)
        return sums / forest.ptr.diff().to(x.dtype).unsqueeze(1)


@register
class TreeAndMean(BaseLayer):
    """Sentence vector from a Child-Sum Tree-LSTM: the state of the root, concatenated with the mean of the words.

        v = [h_root ; 1/n Σ_k x_k]

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        kwargs: the other arguments of `ChildSumTreeLSTM`.

    Shape:
        x (N, X), a forest of N nodes -> (trees, D + X).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> bough.nn.TreeAndMean(300, 150)(torch.randn(5, 300), forest).shape
        torch.Size([2, 450])
    """

    name = "dependency-mean"
    reads = "dependency"
    phrases = False

    def __init__(self, input_size: int, hidden_size: int, **kwargs: Any) -> None:
        super().__init__(input_size, hidden_size + input_size)
        self.tree = ChildSumTreeLSTM(input_size, hidden_size, **kwargs)

    @property
    def shares(self) -> bool:
        return False  # a word counts in the mean as often as it occurs

    def input_nodes(self, forest: Forest) -> Tensor:
        return self.tree.input_nodes(forest.unshared)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        forest = forest.unshared
        tree_of = forest.batch.index_select(0, self.input_nodes(forest))  # (M,)
        sums = x.new_zeros(len(forest), x.shape[1]).index_add(0, tree_of, x)
        counts = torch.bincount(tree_of, minlength=len(forest)).to(x.dtype).unsqueeze(1)
        return torch.cat([self.tree.sentences(x, forest), sums / counts], dim=1)
