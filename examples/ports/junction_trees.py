"""Message passing in both directions of a junction tree, after JT-VAE (Jin, Barzilay and Jaakkola, 2018).

A message m_ij leads from cluster i to its neighbour j, and reads the messages into i, except that from j:

    s_ij = Σ_k m_ki,  z_ij = σ(W_z x_i + U_z s_ij + b_z),  r_ki = σ(W_r x_i + U_r m_ki + b_r)
    m_ij = (1 - z_ij) ⊙ s_ij + z_ij ⊙ tanh(W x_i + U Σ_k r_ki ⊙ m_ki + b)
    h_i  = ReLU(W_o [x_i ; Σ_k m_ki])

The messages of a tree are the nodes of a graph without cycles, and which message reads which are its edges. Over that
graph the equations are those of `ChildSumTreeGRU`, whose z is 1 - z_ij. There is no need to go up the tree first and
down again: the schedule finds the order.
"""

import torch
from torch import Tensor, nn

import bough


def graph_of_messages(forest: bough.Forest) -> tuple[bough.Forest, Tensor, Tensor]:
    """Return a graph with a node per message, and the clusters that each message leads from and to."""
    child, parent = forest.edge_index
    start, end = torch.cat([child, parent]), torch.cat([parent, child])
    into = end.argsort(stable=True)  # messages, sorted by the cluster that they lead to
    count = torch.bincount(end, minlength=forest.num_nodes)
    reader = torch.arange(len(start)).repeat_interleave(count[start])
    place = torch.arange(len(reader)) - (count[start].cumsum(0) - count[start])[reader]
    read = into[(count.cumsum(0) - count)[start[reader]] + place]
    other = start[read] != end[reader]
    edges = torch.stack([read[other], reader[other]])
    messages = bough.Graph(edges.t(), len(start))
    return bough.Forest([messages], keys=[start.tolist()]), start, end  # messages from one cluster have one x


class JunctionTreeEncoder(nn.Module):
    """h_i = ReLU(W_o [x_i ; Σ_k m_ki]) of every cluster"""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.messages = bough.nn.ChildSumTreeGRU(input_size, hidden_size)
        self.output = nn.Linear(input_size + hidden_size, hidden_size)

    def forward(self, x: Tensor, forest: bough.Forest) -> Tensor:
        graph, start, end = graph_of_messages(forest)
        m = self.messages(x[start], graph)
        sums = m.new_zeros(len(x), m.shape[1]).index_add(0, end, m)
        return torch.relu(self.output(torch.cat([x, sums], dim=1)))
