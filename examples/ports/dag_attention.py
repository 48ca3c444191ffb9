"""Attention over the predecessors of a node in a directed acyclic graph, after DAGNN (Thost and Chen, 2021).

A layer goes through the graph in its order. A node weighs the new states of its predecessors by attention, and a GRU
joins the result with the node's state in the layer below:

    α_vu = softmax_u(w · [h_v ; h'_u + V e_uv]),  m_v = Σ_u α_vu h'_u,  h'_v = GRU(h_v, m_v)

where e_uv is the type of the edge. A second stack with weights of its own goes from the end of the graph to its start.
The vector of a graph is the maximum over the last nodes of each direction, in all layers.
"""

from typing import Any

import torch
from torch import Tensor, nn

import bough


class DAGAttention(bough.nn.TreeLayer):
    """h'_v = GRU(h_v, Σ_u α_vu h'_u), u the predecessors of v"""

    def __init__(self, input_size: int, hidden_size: int, edge_size: int) -> None:
        super().__init__(input_size, states=(hidden_size,))
        self.cell, self.V = nn.GRUCell(input_size, hidden_size), nn.Linear(edge_size, hidden_size)
        self.w = nn.Linear(input_size + hidden_size, 1)

    def at_leaf(self, x: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        return (self.cell(x),)

    def node(self, x: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        (h_u,) = below.states
        scores = self.w(torch.cat([below.spread(x), h_u + self.V(below.features)], dim=1))
        return (self.cell(x, below.sum(below.softmax(scores) * h_u)),)


class DAGAttentionBack(DAGAttention):
    from_roots = True


class DAGEncoder(nn.Module):
    """Vector of each graph, from layers in both directions"""

    def __init__(self, input_size: int, hidden_size: int, edge_size: int, layers: int = 2) -> None:
        super().__init__()
        sizes = [input_size, *[hidden_size] * (layers - 1)]
        ways = (DAGAttention, DAGAttentionBack)
        self.stacks: Any = nn.ModuleList(
            nn.ModuleList(way(size, hidden_size, edge_size) for size in sizes) for way in ways
        )

    def forward(self, x: Tensor, forest: bough.Forest, edge_features: Tensor) -> Tensor:
        vectors = []
        for stack, back in zip(self.stacks, (False, True), strict=True):
            h = x
            for layer in stack:
                h = layer(h, forest, edge_features=edge_features)
                vectors.append(forest.pool(h, "max", over="leaves" if back else "roots"))
        return torch.cat(vectors, dim=1)
