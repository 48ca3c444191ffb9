"""Recursive networks over dependency trees, the paper's non-LSTM baselines (Socher et al., 2014)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from bough.nn.engine import check_input, check_numbers, sweep, uniform
from bough.nn.fast.recursive import NONLINEARITIES, RecursiveCell
from bough.trees.forest import Forest


class DTRNN(nn.Module):
    """Dependency tree RNN: a sum over affine-transformed children, then a nonlinearity.

    h_j = g(W x_j + b + Σ_k (U h_k + b')), g one of tanh, relu, sigmoid

    `average` divides a node's sum by the number of words below it, itself included, as the DT-RNN's authors
    did: h_j = g((W x_j + b + Σ_k n_k (U h_k + b')) / n_j), with n the sizes of the subtrees.

    Shape: x (N, X), a forest of N nodes -> h (N, D).
    """

    relations = 1

    def __init__(
        self, input_size: int, hidden_size: int, *, nonlinearity: str = "tanh", average: bool = False
    ) -> None:
        super().__init__()
        if nonlinearity not in NONLINEARITIES:
            raise ValueError(f"nonlinearity={nonlinearity!r}: one of {', '.join(NONLINEARITIES)}")
        self.input_size, self.hidden_size = input_size, hidden_size
        self.nonlinearity, self.average = nonlinearity, average
        self.W = uniform(hidden_size, input_size, fan_in=input_size)
        self.b_W = uniform(hidden_size, fan_in=input_size)
        self.U = uniform(self.relations, hidden_size, hidden_size, fan_in=hidden_size)
        self.b_U = uniform(self.relations, hidden_size, fan_in=hidden_size)

    def extra_repr(self) -> str:
        shape = f"{self.input_size}, {self.hidden_size}"
        return f"{shape}, nonlinearity={self.nonlinearity!r}, average={self.average}"

    def forward(self, x: Tensor, forest: Forest) -> Tensor:
        check_input(x, forest, self.input_size, self.W)
        nodes = self.input_nodes(forest)
        rows = x.index_select(0, nodes)
        check_numbers(rows, nodes, forest)
        return self.encode(rows, forest)

    def encode(self, x: Tensor, forest: Forest) -> Tensor:
        """From x (M, X) of `input_nodes(forest)` to h of every node."""
        return self.compose(self.input_map(x), forest).index_select(0, forest.unit_of)

    def input_nodes(self, forest: Forest) -> Tensor:
        """(M,) the nodes whose x is looked at, one for each distinct input."""
        return forest.inputs

    def input_map(self, x: Tensor) -> Tensor:
        """(M, X) -> (M, D): W x + b."""
        return functional.linear(x, self.W, self.b_W)

    def compose(self, a: Tensor, forest: Forest) -> Tensor:
        """From `input_map`'s rows for `input_nodes(forest)` to h (U, D) of the forest's units."""
        a = a.to(self.U.dtype)  # autocast may have made it another
        cell = RecursiveCell(
            a, self.U, self.b_U, forest, self._relations(forest), self.nonlinearity, self.average
        )
        return sweep(cell, forest, a, self.U, self.b_U)[0]

    def _relations(self, forest: Forest) -> Tensor | None:
        """(E,) the map each edge goes through; None where there is only one."""
        return None


class SDTRNN(DTRNN):
    """Semantic dependency tree RNN: a DT-RNN with one transformation for each dependency relation.

    h_j = g(W x_j + b + Σ_k (U_r(k) h_k + b'_r(k))), r(k) the relation of k to its parent

    Relations are ids below `relations`; see `Forest(trees, relations=...)` for names.

    Shape: x (N, X), a forest of N nodes with relations -> h (N, D).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        relations: int,
        nonlinearity: str = "tanh",
        average: bool = False,
    ) -> None:
        if relations < 1:
            raise ValueError(f"relations={relations}: at least 1")
        self.relations = relations
        super().__init__(input_size, hidden_size, nonlinearity=nonlinearity, average=average)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, relations={self.relations}"

    def _relations(self, forest: Forest) -> Tensor | None:
        ids = forest.edge_relations
        if len(forest.children) == 0:
            return None
        if ids is None:
            raise ValueError(
                "the forest's trees have no relation ids; give every tree `relations` and, if they are "
                "names, Forest(trees, relations={name: id, ...})"
            )
        wrong = (ids < 0) | (ids >= self.relations)
        if bool(wrong.any()):
            edge = int(wrong.nonzero()[0])
            node = forest.place(int(forest.edge_nodes[edge]))
            raise ValueError(f"{node} has relation {int(ids[edge])}; the layer has 0..{self.relations - 1}")
        return ids
