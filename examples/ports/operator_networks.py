"""A network per operator of a query plan, after QPPNet (Marcus and Papaemmanouil, 2019).

Each operator t has a network N_t of its own. It reads the numbers of its node, whose count depends on the operator,
and the outputs of the children: out_j = N_t([x_j ; out_1 ; ... ; out_A]). The first entry of an output is the latency
of its subtree; the others say what a parent should know. So every node has a loss. `below.by_kind` runs each network
once per level, on all of its nodes.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

import bough


class OperatorNetwork(nn.Module):
    """N_t: hidden layers of ReLUs over the first `size` numbers of a node and its children's outputs."""

    def __init__(self, size: int, children: int, width: int, hidden: int) -> None:
        super().__init__()
        self.size, self.inputs = size, children * width
        first, second = nn.Linear(size + self.inputs, hidden), nn.Linear(hidden, hidden)
        self.layers = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(hidden, width), nn.ReLU())

    def forward(self, x: Tensor, children: Tensor | None = None) -> Tensor:
        if children is None:
            children = x.new_zeros(len(x), self.inputs)
        inputs = torch.cat([x[:, : self.size], children[:, : self.inputs]], dim=1)
        return torch.as_tensor(self.layers(inputs))


class OperatorNetworks(bough.nn.TreeLayer):
    """out_j = N_t([x_j ; out_1 ; ... ; out_A]), t the operator of j, A the number of its children"""

    def __init__(
        self, sizes: Sequence[int], children: Sequence[int], width: int = 32, hidden: int = 128
    ) -> None:
        super().__init__(max(sizes), states=(width,))
        self.arity = max(children)
        parts = zip(sizes, children, strict=True)
        self.networks = nn.ModuleList(OperatorNetwork(size, count, width, hidden) for size, count in parts)

    def at_leaf(self, x: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        return (below.by_kind(self.networks, x),)

    def node(self, x: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        out = below.slots(below.states[0], self.arity).flatten(1)  # (n, A * width)
        return (below.by_kind(self.networks, x, out),)
