"""The gated recursive cell of Ordered Memory (Shen et al., 2019), for binary trees."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.nn.children import Children
from bough.nn.layer import TreeLayer
from bough.nn.registry import register
from bough.trees.forest import Forest


@register
class GatedRecursive(TreeLayer):
    """Gated recursive network: a gated sum of left child, right child and candidate, followed by LayerNorm.

        h_j = LayerNorm(W x_j + b)                                     at a leaf
        [f_1; f_2; i; p] = W_2 GELU(W_1 [h_l; h_r] + b_1) + b_2        at an inner node
        h_j = LayerNorm(σ(f_1) ⊙ h_l + σ(f_2) ⊙ h_r + σ(i) ⊙ p)

    Inner nodes have no input. Leaves and inner nodes have separate LayerNorms. An only child is h_l; h_r is zero.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state; the hidden layer between W_1 and W_2 is 4 D wide.
        recurrent_dropout: the probability of dropping an entry of the hidden layer, per node, while training.

    Shape:
        x (N, X), a forest of N nodes -> h (N, D).

    Examples:
        >>> import torch, bough
        >>> pair = bough.Tree(parents=[-1, 0, 0], tokens=[None, "cats", "climb"])
        >>> bough.nn.GatedRecursive(300, 150)(torch.randn(3, 300), bough.Forest([pair])).shape
        torch.Size([3, 150])
    """

    name = "gated-recursive"
    reads = "constituency"
    shown = ("recurrent_dropout",)

    def __init__(
        self, input_size: int, hidden_size: int, *, recurrent_dropout: float = 0.0, **kwargs: Any
    ) -> None:
        x, d = input_size, hidden_size
        super().__init__(x, (d,), recurrent_dropout=recurrent_dropout, **kwargs)
        self.hidden_size, self.leaf_inputs, self.dropout_width = d, True, 4 * d
        self.weight("W", d, x, fan_in=x)
        self.weight("b", d, fan_in=x)
        self.weight("W_1", 2 * d, 4 * d, fan_in=2 * d)  # row blocks h_l, h_r
        self.weight("b_1", 4 * d, fan_in=2 * d)
        self.weight("W_2", 4 * d, 4 * d, fan_in=4 * d)  # column blocks f_1, f_2, i, p
        self.weight("b_2", 4 * d, fan_in=4 * d)
        self.leaf_norm, self.norm = nn.LayerNorm(d, **self._factory), nn.LayerNorm(d, **self._factory)
        self.reset_parameters()

    def check(self, forest: Forest) -> None:
        forest.check_arity(2)

    def input_map(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.W, self.b)  # (M, D)

    def with_input_map(self, W: Tensor, b: Tensor) -> dict[str, Tensor]:
        return {"W": W, "b": b}

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor]:
        return (torch.as_tensor(self.leaf_norm(a)),)

    def node(self, a: None, below: Children) -> tuple[Tensor]:
        d, h = self.hidden_size, below.slots(below.states[0], 2)  # (n, 2, D)
        hidden = below.drop(functional.gelu(below.addmm(self.b_1, h.view(-1, 2 * d), self.W_1)))  # (n, 4D)
        gates, p = below.addmm(self.b_2, hidden, self.W_2).split([3 * d, d], dim=1)
        f_1, f_2, i = torch.sigmoid(gates).chunk(3, dim=1)  # (n, D)
        return (torch.as_tensor(self.norm(f_1 * h[:, 0] + f_2 * h[:, 1] + i * p)),)
