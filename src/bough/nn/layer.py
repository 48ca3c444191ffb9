"""What every Tree-LSTM layer does around its equations: checks, distinct inputs, states back to the nodes."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor, nn

from bough.nn.engine import check_input, check_numbers
from bough.trees.forest import Forest


class TreeLSTM(nn.Module):
    """x (N, X) and a forest of N nodes to h, c (N, D): `input_map` on distinct inputs, `compose` on units."""

    W: nn.Parameter

    def __init__(
        self, input_size: int, hidden_size: int, *, output_gate: bool, recurrent_dropout: float
    ) -> None:
        super().__init__()
        if not 0 <= recurrent_dropout < 1:
            raise ValueError(f"recurrent_dropout={recurrent_dropout}: at least 0, below 1")
        self.input_size, self.hidden_size, self.output_gate = input_size, hidden_size, output_gate
        self.recurrent_dropout = recurrent_dropout
        self.plain = "uio" if output_gate else "ui"  # the gates but for the forget gates

    def forward(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        check_input(x, forest, self.input_size, self.W)
        if self.training and self.recurrent_dropout:
            forest = forest.unshared  # each node draws its own mask
        nodes = self.input_nodes(forest)
        rows = x.index_select(0, nodes)
        check_numbers(rows, nodes, forest)
        return self.encode(rows, forest)

    def encode(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """From x (M, X) of `input_nodes(forest)` to h and c of every node."""
        h, c = self.compose(self.input_map(x), forest)
        return h.index_select(0, forest.unit_of), c.index_select(0, forest.unit_of)

    def input_nodes(self, forest: Forest) -> Tensor:
        """(M,) the nodes whose x is looked at, one for each distinct input."""
        return forest.inputs

    @abstractmethod
    def input_map(self, x: Tensor) -> Tensor:
        """(M, X) -> (M, G*D): what the equations make of the input alone, in one matmul."""

    @abstractmethod
    def compose(self, a: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """From `input_map`'s rows for `input_nodes(forest)` to h, c (U, D) of the forest's units."""

    @abstractmethod
    def gates(self) -> dict[str, Tensor]:
        """The parameters by the paper's symbols."""
