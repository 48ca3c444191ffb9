"""Statement trees of programs with a maximum over their nodes, after ASTNN (Zhang et al., 2019).

A program is a list of statements, each with a syntax tree whose nodes have the ids of their symbols. The state of a
node is a map of its symbol plus the states of its children; the vector of a statement is the maximum over its nodes:

    h_j = W e(x_j) + b + Σ_k h_k,   v = max_j h_j

A recurrent network in both directions reads the statements of a program in order, and the vector of the program is
the maximum over its outputs. With keys, a statement that occurs again is not computed again:
`bough.Forest(trees, keys=ids)`.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

import bough


class StatementTree(bough.nn.TreeLayer):
    """h_j = W e(x_j) + b + Σ_k h_k"""

    integer_inputs = True

    def __init__(self, symbols: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__(1, states=(hidden_size,))
        self.e, self.W = nn.Embedding(symbols, embedding_size), nn.Linear(embedding_size, hidden_size)

    def input_map(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.W(self.e(x)))

    def node(self, a: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        return (a + below.sum(below.states[0]),)


class ProgramEncoder(nn.Module):
    """Vector of each program, from the trees of all statements and the number of statements of each program"""

    def __init__(self, symbols: int, embedding_size: int = 128, hidden_size: int = 128) -> None:
        super().__init__()
        self.statement = StatementTree(symbols, embedding_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, bidirectional=True)

    def forward(self, ids: Tensor, forest: bough.Forest, statements: list[int]) -> Tensor:
        v = forest.pool(self.statement(ids, forest), "max")  # (statements, D)
        outputs, _ = self.gru(pack_sequence(v.split(statements), enforce_sorted=False))
        padded, _ = pad_packed_sequence(outputs, padding_value=-torch.inf)  # (longest, programs, 2D)
        return padded.amax(dim=0)
