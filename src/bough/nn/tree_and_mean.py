"""A tree's root beside the plain mean of its words, for a task that needs both."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from bough.nn.base import BaseLayer
from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.nary import NaryTreeLSTM
from bough.nn.registry import register
from bough.trees.forest import Forest


class TreeAndMean(BaseLayer):
    """The root's state of a Tree-LSTM and the mean of the words, side by side, as the vector of a sentence.

        v = [h_root ; 1/n Σ_k x_k]

    Args:
        input_size: X.
        hidden_size: D.
        tree: "dependency" for a Child-Sum Tree-LSTM, "constituency" for a binary one.
        device: of the weights.
        dtype: of the weights.

    Shape:
        x (N, X), a forest of N nodes -> (trees, D + X).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> bough.nn.TreeAndMean(300, 150)(torch.randn(5, 300), forest).shape
        torch.Size([2, 450])
    """

    phrases = False

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        tree: Literal["dependency", "constituency"] = "dependency",
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size + input_size)
        layer = {"dependency": ChildSumTreeLSTM, "constituency": NaryTreeLSTM}[tree]
        self.tree = layer(input_size, hidden_size, device=device, dtype=dtype)

    @property
    def shares(self) -> bool:
        return False  # a word counts in the mean as often as it is there

    def input_nodes(self, forest: Forest) -> Tensor:
        found: Tensor = self.tree.input_nodes(forest.unshared)
        return found

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        return (self.sentences(x, forest),)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        forest = forest.unshared
        whose = forest.tree_of.index_select(0, self.input_nodes(forest))  # (M,)
        sums = x.new_zeros(len(forest), x.shape[1]).index_add(0, whose, x)
        counts = torch.bincount(whose, minlength=len(forest)).to(x.dtype).unsqueeze(1)
        return torch.cat([self.tree.sentences(x, forest), sums / counts], dim=1)


register(TreeAndMean, name="dependency-mean", reads="dependency", tree="dependency")
register(TreeAndMean, name="constituency-mean", reads="constituency", tree="constituency")
