"""LSTMs over word sequences (Sec. 2), a chain being a tree: the first word its leaf, the last its root."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bough.nn.base import BaseLayer
from bough.nn.nary import NaryTreeLSTM
from bough.nn.registry import register
from bough.trees.forest import Forest


class ChainLSTM(NaryTreeLSTM):
    """One layer of an LSTM in one direction (Eq. 1): the N-ary layer with a single child, the word before.

        i_t = σ(W_i x_t + U_i h_{t-1} + b_i)        f_t = σ(W_f x_t + U_f h_{t-1} + b_f)
        o_t = σ(W_o x_t + U_o h_{t-1} + b_o)        u_t = tanh(W_u x_t + U_u h_{t-1} + b_u)
        c_t = i_t ⊙ u_t + f_t ⊙ c_{t-1}             h_t = o_t ⊙ tanh(c_t)

    Shape:
        x (N, X), a forest of chains with N nodes -> h, c (N, D).
    """

    name = ""

    def __init__(self, input_size: int, hidden_size: int, **settings: Any) -> None:
        super().__init__(input_size, hidden_size, 1, leaf="gated", **settings)


@register
class LSTM(BaseLayer):
    """LSTM, stacked and in both directions as in the paper, on forests of chains.

    Layer l + 1 reads layer l's h at the same word. The two directions are independent stacks, which share
    their weights (the paper's way) or, with `tied=False`, have their own; neither sees the other's states.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        layers: the number of stacked layers.
        bidirectional: whether a second stack reads from the last word to the first.
        output_gate: whether there is an o.
        tied: whether both directions use the same weights.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of chains with N nodes -> h, c (N, directions * layers * D), direction-major:
        forward layer 1, forward layer 2, ..., backward layer 1, ...

    Examples:
        >>> import torch, bough
        >>> sentence = bough.Tree(parents=[1, 2, -1])  # a chain: the last word is the root
        >>> forest = bough.Forest([sentence])
        >>> h, c = bough.nn.LSTM(300, 150, bidirectional=True)(torch.randn(3, 300), forest)
        >>> h.shape
        torch.Size([3, 300])
    """

    name = "lstm"
    reads = "words"
    phrases = False

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        layers: int = 1,
        bidirectional: bool = False,
        output_gate: bool = True,
        tied: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if layers < 1:
            raise ValueError(f"layers={layers}: at least 1")
        self.directions = 2 if bidirectional else 1
        super().__init__(input_size, self.directions * layers * hidden_size, device=device, dtype=dtype)
        self.hidden_size, self.layers = hidden_size, layers
        self.bidirectional, self.tied = bidirectional, tied
        stacks = 2 if bidirectional and not tied else 1
        self.stacks = nn.ModuleList(
            nn.ModuleList(
                ChainLSTM(width, hidden_size, output_gate=output_gate, device=device, dtype=dtype)
                for width in (input_size, *[hidden_size] * (layers - 1))
            )
            for _ in range(stacks)
        )

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        return self.encode(x, forest)

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        return self.encode(x, forest)[0], torch.arange(forest.size, device=x.device)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        return self.final(self.encode(x, forest)[0], forest)

    def encode(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """From x (M, X) of `input_nodes(forest)` to h and c of every node."""
        forest.check_chains()
        if not self.bidirectional:
            ways, passes = [forest], 1
        elif self.tied:  # both directions in one pass: as many matmuls as for one, with twice the rows
            ways, passes = [forest.both_ways], 2
        else:
            ways, passes = [forest, forest.reversed], 1
        directions = [
            states
            for stack, way in zip(self.stacks, ways, strict=True)
            for states in _stacked(list(stack.children()), x, forest, way, passes)
        ]
        h, c = (torch.cat(parts, dim=1) for parts in zip(*directions, strict=True))
        return h, c

    def final(self, h: Tensor, forest: Forest) -> Tensor:
        """(trees, directions * layers * D) the sentence vector: every layer's h where its direction ends."""
        if h.shape != (forest.size, self.width):
            raise ValueError(
                f"h is {tuple(h.shape)}; this layer's states of the forest are {(forest.size, self.width)}"
            )
        ends = h.index_select(0, forest.roots)
        if not self.bidirectional:
            return ends
        half = self.width // 2
        return torch.cat([ends[:, :half], h.index_select(0, forest.chain_starts)[:, half:]], dim=1)


def _stacked(
    layers: list[nn.Module], x: Tensor, forest: Forest, way: Forest, passes: int
) -> list[tuple[Tensor, Tensor]]:
    """h and c (N, layers * D) for each of the times that `way` passes through the forest's chains."""
    row_of = forest.input_of.index_select(0, forest.unit_of)  # (N,)
    hs: list[Tensor] = []
    cs: list[Tensor] = []
    for layer in layers:
        assert isinstance(layer, ChainLSTM)
        if not hs:
            a = layer.input_map(x).index_select(0, row_of.index_select(0, way.inputs % max(forest.size, 1)))
        else:  # a unit's input is now its own state below, so every unit has an input to itself
            way = way.by_unit
            a = layer.input_map(hs[-1])
        h, c = layer.compose(a, way)
        hs.append(h)
        cs.append(c)
    h, c = torch.cat(hs, dim=1), torch.cat(cs, dim=1)
    return [(h.index_select(0, units), c.index_select(0, units)) for units in way.unit_of.view(passes, -1)]
