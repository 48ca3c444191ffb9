"""The plain recursive network over binary trees (Socher et al., 2013), which Table 2 calls RAE."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bough import Forest
from bough.nn import Edges, TreeLayer, register


@register
class RecursiveNetwork(TreeLayer):
    """Recursive neural network: a node is one map of its two children, as wide as a word's vector.

        h_j = tanh(x_j) at a leaf
        h_j = tanh(W [h_1; h_2] + b) at an inner node

    W starts as [I, I] plus noise, so that a node starts near the sum of its children.

    Args:
        input_size: X, which is also the width of the states.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes with at most two children each -> h (N, X); x is read at leaves only.

    Examples:
        >>> import torch, bough, paper.layers
        >>> pair = bough.Tree(parents=[-1, 0, 0], tokens=[None, "cats", "climb"])
        >>> forest = bough.Forest([pair])
        >>> paper.layers.RecursiveNetwork(50)(torch.randn(3, 50), forest).shape
        torch.Size([3, 50])
    """

    name = "rnn"
    reads = "constituency"
    W: nn.Parameter
    b: nn.Parameter

    def __init__(self, input_size: int, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        d = input_size
        super().__init__(d, (d,), device=device, dtype=dtype)
        self.leaf_inputs = True
        self.weight("W", 2 * d, d, fan_in=4 * d)  # row blocks h_1, h_2
        self.weight("b", d, fan_in=4 * d)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.W.add_(torch.eye(self.input_size, dtype=self.W.dtype, device=self.W.device).repeat(2, 1))

    def extra_repr(self) -> str:
        return f"{self.input_size}"

    def check(self, forest: Forest) -> None:
        forest.check_arity(2)

    def at_leaf(self, a: Tensor, below: Edges) -> tuple[Tensor]:
        return (torch.tanh(a),)

    def node(self, a: None, below: Edges) -> tuple[Tensor]:
        (h_k,) = below.states
        h = below.slots(h_k, 2).flatten(1)  # (n, 2X), [h_1; h_2]
        return (torch.tanh(torch.addmm(self.b, h, self.W)),)
