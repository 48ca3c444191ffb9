"""Child-Sum Tree-GRU (Zhou et al., 2016; Kokkinos and Potamianos, 2017)."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from bough.nn.children import Children
from bough.nn.layer import TreeLayer
from bough.nn.registry import register


@register
class ChildSumTreeGRU(TreeLayer):
    """Tree-GRU with an update gate between the sum of the children and a candidate, and a reset gate per child.

        h~_j = Σ_k h_k
        z_j  = σ(W_z x_j + U_z h~_j + b_z)
        r_jk = σ(W_r x_j + U_r h_k + b_r)
        u_j  = tanh(W_u x_j + U_u Σ_k r_jk ⊙ h_k + b_u)
        h_j  = z_j ⊙ h~_j + (1 - z_j) ⊙ u_j

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        recurrent_dropout: the probability of dropping an entry of u while training; each node has its own mask.

    Shape:
        x (N, X), a forest of N nodes -> h (N, D).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> bough.nn.ChildSumTreeGRU(300, 150)(torch.randn(5, 300), forest).shape
        torch.Size([5, 150])
    """

    name = "tree-gru"
    reads = "dependency"

    def __init__(
        self, input_size: int, hidden_size: int, *, recurrent_dropout: float = 0.0, **kwargs: Any
    ) -> None:
        x, d = input_size, hidden_size
        super().__init__(x, (d,), recurrent_dropout=recurrent_dropout, **kwargs)
        self.weight("W", 3 * d, x, fan_in=x)  # row blocks z, r, u
        self.weight("b", 3 * d, fan_in=x)
        for name in ("U_z", "U_r", "U_u"):
            self.weight(name, d, d, fan_in=d)
        self.reset_parameters()

    def input_map(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.W, self.b)  # (M, 3D)

    def with_input_map(self, W: Tensor, b: Tensor) -> dict[str, Tensor]:
        return {"W": W, "b": b}

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        a_z, a_r, a_u = a.chunk(3, dim=1)  # (n, D)
        (h_k,) = below.states  # (E, D)
        h_sum = below.sum(h_k)  # (n, D)
        z = torch.sigmoid(a_z + h_sum @ self.U_z)
        r = torch.sigmoid(below.spread(a_r) + h_k @ self.U_r)  # (E, D)
        u = below.drop(torch.tanh(a_u + below.sum(r * h_k) @ self.U_u))
        return (z * h_sum + (1 - z) * u,)
