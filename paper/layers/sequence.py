"""Encoders of word sequences: all sentences of one length at once, so that nothing is ever padded."""

from __future__ import annotations

import torch
from torch import Tensor

from bough import Forest
from bough.nn import BaseLayer


class SequenceEncoder(BaseLayer):
    """An encoder of word sequences that is given by its equations for sentences of one length, `sequences`.

    Args:
        input_size: the width X of an input row.
        width: the width of a sentence vector.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of chains with N nodes, words in order -> (trees, width).

    Examples:
        >>> import torch, bough, paper.layers
        >>> class FirstWord(paper.layers.SequenceEncoder):
        ...     def sequences(self, x):  # (B, n, X) -> (B, width)
        ...         return x[:, 0]
        >>> forest = bough.Forest([bough.Tree(parents=[1, 2, -1])])
        >>> FirstWord(300, width=300)(torch.randn(3, 300), forest).shape
        torch.Size([1, 300])
    """

    reads = "words"
    phrases = False

    def sequences(self, x: Tensor) -> Tensor:
        """(B, n, X), the n words of each of B sentences -> (B, width)."""
        raise NotImplementedError

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        return (self.sentences(x, forest),)

    @property
    def shares(self) -> bool:
        return False

    def input_nodes(self, forest: Forest) -> Tensor:
        return torch.arange(forest.size, device=forest.device)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        forest.check_chains()
        lengths = forest.tree_sizes
        starts = lengths.cumsum(0) - lengths
        if not len(lengths):
            return x.sum() * x.new_zeros(0, self.width)  # of nothing, and still differentiable
        order, parts = [], []
        for length in lengths.unique().tolist():
            trees = (lengths == length).nonzero().squeeze(1)
            words = starts[trees].unsqueeze(1) + torch.arange(length, device=x.device)  # (B, n)
            order.append(trees)
            parts.append(self.sequences(x[words.flatten()].unflatten(0, words.shape)))
        return torch.cat(parts).index_select(0, torch.cat(order).argsort())
