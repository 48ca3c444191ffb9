"""Child-Sum Tree-LSTM with attention over the children (Zhou, Liu and Pan, 2016)."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.children import Children
from bough.nn.lstm import LSTM
from bough.nn.registry import register
from bough.trees.forest import Forest


@register
class AttentiveChildSum(ChildSumTreeLSTM):
    """Child-Sum Tree-LSTM in which h~ is an attention-weighted sum, guided by one vector g per tree.

        m_k = tanh(W_m h_k + U_m g),  α = softmax_k(w · m_k),  h~_j = Σ_k α_k h_k

    The other equations are Eqs. 3-8. The guide is the final state of an LSTM over the words of the
    other sentence of a pair, or over the tree's own words if there is no pair. The trees are
    dependency trees, with a word at every node.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        output_gate: whether there is an output gate o.
        recurrent_dropout: the probability of dropping an entry of u while training; each node has its own mask.

    Shape:
        x (N, X), a forest of N nodes, guide (trees, D) or None for that of the LSTM -> h, c (N, D).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> h, c = bough.nn.AttentiveChildSum(300, 150)(torch.randn(5, 300), forest, guide=torch.randn(2, 150))
        >>> h.shape
        torch.Size([5, 150])
    """

    name = "attentive"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        output_gate: bool = True,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        x, d = input_size, hidden_size
        super().__init__(x, d, output_gate=output_gate, recurrent_dropout=recurrent_dropout, **kwargs)
        self.reader = LSTM(x, d, output_gate=output_gate, **kwargs)
        for name, shape in (("W_m", (d, d)), ("U_m", (d, d)), ("w", (d, 1))):
            self.weight(name, *shape, fan_in=d)
        self.reset_parameters()

    @property
    def shares(self) -> bool:
        return False  # equal phrases of different trees have different guides

    def node(self, a: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        d = self.hidden_size
        a, guide = a[:, :-d], a[:, -d:]  # (n, G*D) and U_m g
        h_k, _ = below.states
        m = torch.tanh(h_k @ self.W_m + below.spread(guide))  # (E, D)
        alpha = below.softmax(m @ self.w)  # (E, 1)
        return self.gated(a, below.sum(alpha * h_k), below)

    def map_inputs(self, x: Tensor, forest: Forest, guide: Tensor | None = None) -> Tensor:
        """Return (M, G*D + D): W x and the biases of the gates, and U_m g of the node's tree."""
        if guide is None:
            guide = self._read(x, forest)
        elif guide.shape != (len(forest), self.hidden_size):
            wanted = f"({len(forest)}, {self.hidden_size}), one row per tree"
            raise ValueError(f"guide is {tuple(guide.shape)}; it must be {wanted}")
        trees = forest.batch.index_select(0, self.input_nodes(forest))
        guides = functional.linear(guide, self.U_m.t()).index_select(0, trees)
        return torch.cat([self.input_map(x), guides], dim=1)

    def step_inputs(self, x: Tensor, guide: Tensor | None = None) -> Tensor:
        """Return (n, G*D + D), from x (n, X) and the guide of each node's tree (n, D)."""
        if guide is None or guide.shape != (len(x), self.hidden_size):
            given = None if guide is None else tuple(guide.shape)
            raise ValueError(
                f"guide is {given}; a step takes ({len(x)}, {self.hidden_size}), one row per node"
            )
        return torch.cat([self.input_map(x), functional.linear(guide, self.U_m.t())], dim=1)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        forest.check_one_root()
        guide = self._read(x, forest)
        if others is not None:
            guide = guide.index_select(0, others)
        h = self.compose(self.map_inputs(x, forest, guide), forest)[0]
        return h.index_select(0, forest.unshared.unique_of.index_select(0, forest.roots))

    def _read(self, x: Tensor, forest: Forest) -> Tensor:
        """Return the LSTM's vector of each tree's words (trees, D), from x (N, X) in the order of `input_nodes`."""
        words = x.new_empty(x.shape).index_copy(0, self.input_nodes(forest), x)
        chains = forest.as_chains
        return self.reader.sentences(words.index_select(0, chains.inputs), chains)
