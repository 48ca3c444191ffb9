"""Recursive networks over dependency trees (Socher et al., 2014), the baselines without an LSTM."""

from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from bough import Forest
from bough.nn import Children, TreeLayer, register

NONLINEARITIES = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid}


@register
class DTRNN(TreeLayer):
    """Dependency tree RNN: a sum over affine-transformed children, then a nonlinearity.

        h_j = g(W x_j + b + Σ_k (U h_k + b')), g one of tanh, relu, sigmoid

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        nonlinearity: g.
        average: whether to divide the sum by the number of words in the subtree, as the authors of the DT-RNN did:
            h_j = g((W x_j + b + Σ_k n_k (U h_k + b')) / n_j), where n_j is the size of j's subtree.

    Shape:
        x (N, X), a forest of N nodes -> h (N, D).

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> paper.layers.DTRNN(300, 150)(torch.randn(5, 300), forest).shape
        torch.Size([5, 150])
    """

    name = "dt-rnn"
    reads = "dependency"
    relations = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        nonlinearity: Literal["tanh", "relu", "sigmoid"] = "tanh",
        average: bool = False,
        **kwargs: Any,
    ) -> None:
        if nonlinearity not in NONLINEARITIES:
            raise ValueError(f"nonlinearity={nonlinearity!r}: one of {', '.join(NONLINEARITIES)}")
        x, d = input_size, hidden_size
        super().__init__(x, (d,), **kwargs)
        self.hidden_size, self.nonlinearity, self.average = d, nonlinearity, average
        self.weight("W", d, x, fan_in=x)
        self.weight("b_W", d, fan_in=x)
        self.weight("U", self.relations, d, d, fan_in=d)
        self.weight("b_U", self.relations, d, fan_in=d)
        self.reset_parameters()

    def extra_repr(self) -> str:
        shape = f"{self.input_size}, {self.hidden_size}"
        return f"{shape}, nonlinearity={self.nonlinearity!r}, average={self.average}"

    def input_map(self, x: Tensor) -> Tensor:
        """(M, X) -> (M, D): W x + b."""
        return functional.linear(x, self.W, self.b_W)

    def with_input_map(self, W: Tensor, b: Tensor) -> dict[str, Tensor]:
        return {"W": W, "b_W": b}

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        g = NONLINEARITIES[self.nonlinearity]
        (h_k,) = below.states  # (E, D)
        messages = self.messages(h_k, below)
        if not self.average:
            return (g(a + below.sum(messages)),)
        return (g((a + below.sum(below.sizes * messages)) / below.own_sizes),)

    def messages(self, h_k: Tensor, below: Children) -> Tensor:
        """(E, D): U h_k + b' of every child."""
        return torch.addmm(self.b_U[0], h_k, self.U[0])


@register
class SDTRNN(DTRNN):
    """Semantic dependency tree RNN: a DT-RNN with one transformation per dependency relation.

        h_j = g(W x_j + b + Σ_k (U_r(k) h_k + b'_r(k))), r(k) the relation of k to its parent

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        relations: the number of relations; `Forest(trees, relations=...)` maps their names to numbers.
        nonlinearity: g, as for `DTRNN`.
        average: as for `DTRNN`.

    Shape:
        x (N, X), a forest of N nodes with relations -> h (N, D).

    Examples:
        >>> import torch, bough, paper.layers
        >>> tree = bough.Tree(parents=[1, -1, 1], relations=["nsubj", "root", "obj"])
        >>> forest = bough.Forest([tree], relations={"root": 0, "nsubj": 1, "obj": 2})
        >>> paper.layers.SDTRNN(300, 150, relations=3)(torch.randn(3, 300), forest).shape
        torch.Size([3, 150])
    """

    name = "sdt-rnn"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        relations: int,
        nonlinearity: Literal["tanh", "relu", "sigmoid"] = "tanh",
        average: bool = False,
        **kwargs: Any,
    ) -> None:
        if relations < 1:
            raise ValueError(f"relations={relations}: at least 1")
        self.relations = relations
        super().__init__(input_size, hidden_size, nonlinearity=nonlinearity, average=average, **kwargs)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, relations={self.relations}"

    def messages(self, h_k: Tensor, below: Children) -> Tensor:
        """(E, D): U_r h_k + b'_r of every child, r the relation of the child."""
        if not len(h_k):  # leaves only, which need no relations
            return h_k
        # Children are sorted by relation, so that each relation is one matrix multiplication.
        order = below.relations.argsort(stable=True)
        counts = torch.bincount(below.relations, minlength=self.relations).tolist()
        parts = zip(self.U.unbind(), self.b_U.unbind(), h_k.index_select(0, order).split(counts), strict=True)
        messages = torch.cat([torch.addmm(b, h, U) for U, b, h in parts if len(h)])
        return messages.index_select(0, order.argsort())

    def check(self, forest: Forest) -> None:
        ids = forest.edge_relations
        if len(forest.children) == 0:
            return
        if ids is None:
            raise ValueError(
                "the forest's trees have no relation ids; give every tree `relations` and, if they are "
                "names, Forest(trees, relations={name: id, ...})"
            )
        wrong = (ids < 0) | (ids >= self.relations)
        if bool(wrong.any()):
            edge = int(wrong.nonzero()[0])
            node = forest.describe_node(int(forest.edge_nodes[edge]))
            raise ValueError(f"{node} has relation {int(ids[edge])}; the layer has 0..{self.relations - 1}")
