"""The recursive neural tensor network (Socher et al., 2013)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bough.nn import Edges, register
from paper.layers.rnn import RecursiveNetwork


@register
class RNTN(RecursiveNetwork):
    """Recursive neural tensor network: the children also multiply one another, through a tensor.

        h_j = tanh(x_j) at a leaf
        h_j = tanh(zᵀ V z + W z + b) at an inner node, z = [h_1; h_2]; entry k of zᵀ V z is zᵀ V_k z

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
        >>> paper.layers.RNTN(25)(torch.randn(3, 25), forest).shape
        torch.Size([3, 25])
    """

    name = "rntn"
    V: nn.Parameter

    def __init__(self, input_size: int, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        super().__init__(input_size, device=device, dtype=dtype)
        d = input_size
        self.weight("V", 4 * d * d, d, fan_in=16 * d * d)  # V[:, k] is V_k, row by row
        self.reset_parameters()

    def node(self, a: None, below: Edges) -> tuple[Tensor]:
        (h_k,) = below.states
        z = below.slots(h_k, 2).flatten(1)  # (n, 2X), [h_1; h_2]
        products = (z.unsqueeze(2) * z.unsqueeze(1)).flatten(1)  # (n, 4X²)
        return (torch.tanh(torch.addmm(torch.addmm(self.b, z, self.W), products, self.V)),)
