"""The deep recursive network (Irsoy and Cardie, 2014)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough import Forest
from bough.nn import Edges, TreeLayer, register

NOISE = 0.1  # of what the other weights have


@register
class DRNN(TreeLayer):
    """Deep recursive network: recursive networks stacked over the same binary tree.

        h_1 = ReLU(W_L m_left + W_R m_right + b_1), the children's h_1; a word's is its x, with its own maps
        h_i = ReLU(W_L^i h_i(left) + W_R^i h_i(right) + V_i h_{i-1} + b_i) for i = 2 .. layers; a word has no children

    The maps between nodes start near I / 2, so that a node starts near the mean of its children.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        layers: the number of stacked layers, at least two: a word has no state in the first.
        recurrent_dropout: the probability of dropping an entry of an inner node's states while training.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes with at most two children each -> the top h (N, D), the layers below it,
        and what a node sends to its parent from the left and from the right; x is read at leaves only.

    Examples:
        >>> import torch, bough, paper.layers
        >>> pair = bough.Tree(parents=[-1, 0, 0], tokens=[None, "cats", "climb"])
        >>> forest = bough.Forest([pair])
        >>> top, *rest = paper.layers.DRNN(50, 40, layers=3)(torch.randn(3, 50), forest)
        >>> top.shape
        torch.Size([3, 40])
    """

    name = "drnn"
    reads = "constituency"
    W_x: nn.Parameter
    V_x: nn.Parameter
    W_1: nn.Parameter
    b_1: nn.Parameter

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        layers: int = 4,
        recurrent_dropout: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if layers < 2:
            raise ValueError(f"layers={layers}: at least 2")
        x, d = input_size, hidden_size
        states = (d,) * (
            layers + 1
        )  # h of the layers from the top to the second, then both messages of the first
        super().__init__(x, states, recurrent_dropout=recurrent_dropout, device=device, dtype=dtype)
        self.layers, self.hidden_size, self.leaf_inputs = layers, d, True
        self.weight("W_x", 2 * d, x, fan_in=x)  # row blocks left, right
        self.weight("V_x", d, x, fan_in=x)
        self.weight("W_1", d, 2 * d, fan_in=d)  # column blocks left, right
        self.weight("b_1", d, fan_in=d)
        for i in range(2, layers + 1):
            self.weight(f"W_{i}", 2 * d, d, fan_in=d)  # row blocks left, right
            self.weight(f"V_{i}", d, d, fan_in=d)
            self.weight(f"b_{i}", d, fan_in=d)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        half = 0.5 * torch.eye(self.hidden_size, dtype=self.W_1.dtype, device=self.W_1.device)
        self.W_1.mul_(NOISE).add_(half.repeat(1, 2))
        for i in range(2, self.layers + 1):
            self._map("W", i).mul_(NOISE).add_(half.repeat(2, 1))

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}, layers={self.layers}"

    def check(self, forest: Forest) -> None:
        forest.check_arity(2)

    def input_map(self, x: Tensor) -> Tensor:
        """(M, X) -> (M, 3D): what a word sends from the left, from the right, and to its second layer."""
        return functional.linear(x, torch.cat([self.W_x, self.V_x]))

    def at_leaf(self, a: Tensor, below: Edges) -> tuple[Tensor, ...]:
        left, right, v = a.chunk(3, dim=1)
        found = [torch.relu(v + self._map("b", 2))]
        for i in range(3, self.layers + 1):
            found.append(torch.relu(torch.addmm(self._map("b", i), found[-1], self._map("V", i))))
        return *found[::-1], left, right

    def node(self, a: None, below: Edges) -> tuple[Tensor, ...]:
        *upper, left, right = (below.slots(state, 2) for state in below.states)  # (n, 2, D)
        h = below.drop(torch.relu(left[:, 0] + right[:, 1] + self.b_1))
        messages = (h @ self.W_1).chunk(2, dim=1)
        found: list[Tensor] = []
        for i, children in enumerate(reversed(upper), 2):
            z = torch.addmm(self._map("b", i), children.flatten(1), self._map("W", i))
            h = below.drop(torch.relu(torch.addmm(z, h, self._map("V", i))))
            found.append(h)
        return *found[::-1], *messages

    def _map(self, name: str, layer: int) -> nn.Parameter:
        return self.get_parameter(f"{name}_{layer}")
