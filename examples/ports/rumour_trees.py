"""Recursive networks over the replies to a post, bottom-up and top-down, after RvNN (Ma, Gao and Wong, 2018).

A post x_j is a bag of words. Top-down, a reply reads the state of the post that it answers, h_S = h_p; bottom-up, a
post reads its replies, h_S = Σ_k h_k. Both are a gated recurrent unit:

    r = σ(W_r x_j + U_r h_S),  z = σ(W_z x_j + U_z h_S),  h_j = (1 - z) ⊙ h_S + z ⊙ tanh(W_h x_j + U_h (r ⊙ h_S))

The vector of a conversation is the maximum over its leaves (top-down), or the state of its root (bottom-up). Top-down,
a reply that arrives later is one more step: `layer.step(x, h[parents], range(len(x)))`.
"""

from typing import Literal

import torch
from torch import Tensor, nn

import bough


class RumourUp(bough.nn.TreeLayer):
    """h_j = (1 - z) ⊙ h_S + z ⊙ tanh(W_h x_j + U_h (r ⊙ h_S))"""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, states=(hidden_size,))
        self.W = nn.Linear(input_size, 3 * hidden_size, bias=False)
        self.U = nn.Linear(hidden_size, 2 * hidden_size, bias=False)
        self.U_h = nn.Linear(hidden_size, hidden_size, bias=False)

    def input_map(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.W(x))

    def node(self, a: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        h_S = below.sum(below.states[0])
        a_rz, a_h = a.tensor_split([2 * self.width], dim=1)
        r, z = torch.sigmoid(a_rz + self.U(h_S)).chunk(2, dim=1)
        return ((1 - z) * h_S + z * torch.tanh(a_h + self.U_h(r * h_S)),)


class RumourDown(RumourUp):
    from_roots = True


class RumourClassifier(nn.Module):
    """Scores of a conversation's classes, such as true, false, unverified and no rumour"""

    def __init__(self, input_size: int, hidden_size: int, classes: int = 4, *, top_down: bool = True) -> None:
        super().__init__()
        self.layer = (RumourDown if top_down else RumourUp)(input_size, hidden_size)
        self.over: Literal["leaves", "roots"] = "leaves" if top_down else "roots"
        self.output = nn.Linear(hidden_size, classes)

    def forward(self, x: Tensor, forest: bough.Forest) -> Tensor:
        h = self.layer(x, forest)
        return torch.as_tensor(self.output(forest.pool(h, "max", over=self.over)))
