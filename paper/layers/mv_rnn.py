"""The matrix-vector recursive network (Socher et al., 2012 and 2013)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from bough import Forest
from bough.nn import Edges, TreeLayer, register


@register
class MVRNN(TreeLayer):
    """Matrix-vector recursive network: every node has a vector h, and a matrix H applied to its sibling's h.

        h_j = tanh(a), H_j = I + R at a leaf, where x_j = [a; R row by row]
        h_j = tanh(W [H_2 h_1; H_1 h_2] + b), H_j = W_M [H_1; H_2] at an inner node

    W starts as [I, I] and W_M as [I, I] / 2, both with noise.

    Args:
        input_size: X = D + D², one vector and one matrix per word.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes with at most two children each -> h (N, D), H (N, D²); x is read at leaves
        only.

    Examples:
        >>> import torch, bough, paper.layers
        >>> pair = bough.Tree(parents=[-1, 0, 0], tokens=[None, "cats", "climb"])
        >>> forest = bough.Forest([pair])
        >>> h, H = paper.layers.MVRNN(10 + 10 * 10)(torch.randn(3, 110), forest)
        >>> h.shape, H.shape
        (torch.Size([3, 10]), torch.Size([3, 100]))
    """

    name = "mv-rnn"
    reads = "constituency"
    W: nn.Parameter
    b: nn.Parameter
    W_M: nn.Parameter

    def __init__(self, input_size: int, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        d = (math.isqrt(1 + 4 * input_size) - 1) // 2
        if d < 1 or d + d * d != input_size:
            raise ValueError(
                f"input_size={input_size}: a vector and a square matrix per word, so d + d², "
                f"{d + d * d} or {(d + 1) * (d + 2)} for example"
            )
        super().__init__(input_size, (d, d * d), device=device, dtype=dtype)
        self.leaf_inputs = True
        self.weight("W", 2 * d, d, fan_in=4 * d)  # row blocks H_2 h_1, H_1 h_2
        self.weight("b", d, fan_in=4 * d)
        self.weight("W_M", d, 2 * d, fan_in=16 * d)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        unit = torch.eye(self.width, dtype=self.W.dtype, device=self.W.device)
        self.W.add_(unit.repeat(2, 1))
        self.W_M.add_(0.5 * unit.repeat(1, 2))

    def extra_repr(self) -> str:
        return f"{self.input_size}"

    def check(self, forest: Forest) -> None:
        forest.check_arity(2)

    def at_leaf(self, a: Tensor, below: Edges) -> tuple[Tensor, Tensor]:
        h, R = a.split(list(self.states), dim=1)
        return torch.tanh(h), R + torch.eye(self.width, dtype=R.dtype, device=R.device).flatten()

    def node(self, a: None, below: Edges) -> tuple[Tensor, Tensor]:
        d = self.width
        h_k, H_k = (below.slots(state, 2) for state in below.states)
        H = H_k.unflatten(2, (d, d))  # (n, 2, D, D)
        crossed = torch.matmul(H.flip(1), h_k.unsqueeze(3)).flatten(1)  # (n, 2D), [H_2 h_1; H_1 h_2]
        h = torch.tanh(torch.addmm(self.b, crossed, self.W))
        return h, torch.matmul(self.W_M, H.flatten(1, 2)).flatten(1)
