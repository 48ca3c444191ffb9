"""Child-Sum Tree-LSTM whose children are weighed by attention (Zhou, Liu and Pan, 2016)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.children import Children
from bough.nn.lstm import LSTM
from bough.nn.registry import register
from bough.trees.forest import Forest


@register
class AttentiveChildSum(ChildSumTreeLSTM):
    """Child-Sum Tree-LSTM in which h~ is a weighted sum, guided by one vector g per tree.

        m_k = tanh(W_m h_k + U_m g),  α = softmax_k(w · m_k),  h~_j = Σ_k α_k h_k

    The rest is Eqs. 3-8. The guide is the final state of an LSTM over the words of the other sentence of a pair, or
    over the tree's own words where there is no other; the trees are dependency trees, with a word at every node.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        output_gate: whether there is an o.
        recurrent_dropout: the probability of dropping an entry of u while training; each node has its own mask.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes, guide (trees, D) or None for the LSTM's -> h, c (N, D).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> h, c = bough.nn.AttentiveChildSum(300, 150)(torch.randn(5, 300), forest, guide=torch.randn(2, 150))
        >>> h.shape
        torch.Size([5, 150])
    """

    name = "attentive"
    W_m: nn.Parameter
    U_m: nn.Parameter
    w: nn.Parameter

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        output_gate: bool = True,
        recurrent_dropout: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        x, d, made = input_size, hidden_size, {"output_gate": output_gate, "device": device, "dtype": dtype}
        super().__init__(x, d, recurrent_dropout=recurrent_dropout, **made)
        self.reader = LSTM(x, d, **made)
        for name, shape in (("W_m", (d, d)), ("U_m", (d, d)), ("w", (d, 1))):
            self.weight(name, *shape, fan_in=d)
        self.reset_parameters()

    @property
    def shares(self) -> bool:
        return False  # equal phrases of two trees have different guides

    def node(self, a: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        d = self.hidden_size
        a, guide = a[:, :-d], a[:, -d:]  # (n, G*D) and U_m g
        h_k, _ = below.states
        m = torch.tanh(h_k @ self.W_m + below.spread(guide))  # (E, D)
        alpha = below.softmax(m @ self.w)  # (E, 1)
        return self.gated(a, below.sum(alpha * h_k), below)

    def node_states(self, x: Tensor, forest: Forest, guide: Tensor | None = None) -> tuple[Tensor, ...]:
        row_of = forest.unshared.unit_of
        return tuple(state.index_select(0, row_of) for state in self._guided(x, forest, guide))

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        return self._guided(x, forest, None)[0], forest.unshared.unit_of

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        guide = self._read(x, forest)
        h = self._guided(x, forest, guide if others is None else guide.index_select(0, others))[0]
        return h.index_select(0, forest.unshared.unit_of.index_select(0, forest.roots))

    def _guided(self, x: Tensor, forest: Forest, guide: Tensor | None) -> tuple[Tensor, ...]:
        if guide is None:
            guide = self._read(x, forest)
        elif guide.shape != (len(forest), self.hidden_size):
            wanted = f"({len(forest)}, {self.hidden_size}), one row per tree"
            raise ValueError(f"guide is {tuple(guide.shape)}; it must be {wanted}")
        trees = forest.tree_of.index_select(0, self.input_nodes(forest))
        a = torch.cat(
            [self.input_map(x), functional.linear(guide, self.U_m.t()).index_select(0, trees)], dim=1
        )
        return self.compose(a, forest)

    def _read(self, x: Tensor, forest: Forest) -> Tensor:
        """(trees, D) what the LSTM makes of each tree's words; x (N, X) is in the order of `input_nodes`."""
        words = x.new_empty(x.shape).index_copy(0, self.input_nodes(forest), x)
        chains = forest.as_chains
        return self.reader.sentences(words.index_select(0, chains.inputs), chains)
