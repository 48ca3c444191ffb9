"""The recursive neural tensor network (Socher et al., 2013)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bough.nn.edges import Edges
from bough.nn.registry import register
from bough.nn.rnn import RecursiveNetwork


@register
class RNTN(RecursiveNetwork):
    """Recursive neural tensor network: the children also multiply one another, through a tensor.

    h_j = tanh(x_j) at a leaf
    h_j = tanh(zᵀ V z + W z + b) above, z = [h_1; h_2]; the k-th entry of zᵀ V z is zᵀ V_k z

    Args:
        input_size: X, the width of the states too.

    Shape: x (N, X), a forest of N nodes with at most two children each -> h (N, X); x counts at leaves alone.
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
