"""LSTMs over sequences of words (Sec. 2). A sequence is a chain: the first word is its leaf, the last its root."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from bough.nn.base import BaseLayer
from bough.nn.gates import checked
from bough.nn.nary import NaryTreeLSTM
from bough.nn.registry import register
from bough.trees.forest import Forest


@register
class LSTM(BaseLayer):
    """LSTM for forests of chains, stacked and bidirectional as in the paper.

        i_t = σ(W_i x_t + U_i h_{t-1} + b_i)        f_t = σ(W_f x_t + U_f h_{t-1} + b_f)
        o_t = σ(W_o x_t + U_o h_{t-1} + b_o)        u_t = tanh(W_u x_t + U_u h_{t-1} + b_u)
        c_t = i_t ⊙ u_t + f_t ⊙ c_{t-1}             h_t = o_t ⊙ tanh(c_t)

    One layer in one direction (Eq. 1) is the N-ary Tree-LSTM whose only child is the word before.
    Layer l + 1 reads h of layer l at the same word. The two directions are independent stacks, and
    do not read each other's states. They share their weights, as in the paper, or have separate
    weights with `tied=False`.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        layers: the number of stacked layers.
        bidirectional: whether a second stack reads from the last word to the first.
        output_gate: whether there is an output gate o.
        tied: whether both directions use the same weights.

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
        **kwargs: Any,
    ) -> None:
        if layers < 1:
            raise ValueError(f"layers={layers}: at least 1")
        self.directions = 2 if bidirectional else 1
        super().__init__(input_size, self.directions * layers * hidden_size, **kwargs)
        self.hidden_size, self.layers = hidden_size, layers
        self.bidirectional, self.tied = bidirectional, tied
        stacks = 2 if bidirectional and not tied else 1
        self.stacks: Any = nn.ModuleList(
            nn.ModuleList(
                NaryTreeLSTM(width, hidden_size, 1, output_gate=output_gate, **kwargs)
                for width in (input_size, *[hidden_size] * (layers - 1))
            )
            for _ in range(stacks)
        )

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        return self.encode(x, forest)

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        return self.encode(x, forest)[0], torch.arange(forest.num_nodes, device=x.device)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        return self.final(self.encode(x, forest)[0], forest)

    def encode(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """Return h and c of every node, from x (M, X) of `input_nodes(forest)`."""
        forest.check_chains()
        if not self.bidirectional:
            ways, passes = [forest], 1
        elif self.tied:  # both directions in one pass: the same number of matmuls, with twice the rows
            ways, passes = [forest.both_ways], 2
        else:
            ways, passes = [forest, forest.reversed], 1
        row_of = forest.input_of.index_select(0, forest.unique_of)  # (N,) the row of x of each node
        directions: list[tuple[Tensor, Tensor]] = []
        for stack, way in zip(self.stacks, ways, strict=True):
            states: list[tuple[Tensor, ...]] = []
            for layer in stack:
                if not states:
                    rows = row_of.index_select(0, way.inputs % max(forest.num_nodes, 1))
                    a = layer.input_map(x).index_select(0, rows)
                else:  # the input of a unique node is its state in the layer below, so each has an input of its own
                    way = way.with_own_inputs
                    a = layer.input_map(states[-1][0])
                states.append(layer.compose(a, way))
            h, c = (torch.cat(parts, dim=1) for parts in zip(*states, strict=True))  # (U, layers * D)
            nodes = way.unique_of.view(passes, -1)  # `way` goes through the chains `passes` times
            directions += [(h.index_select(0, rows), c.index_select(0, rows)) for rows in nodes]
        h, c = (torch.cat(parts, dim=1) for parts in zip(*directions, strict=True))
        return h, c

    def step(self, x: Tensor | None, states: Any = None, parents: Any = None, **more: Any) -> Any:
        """Return h and c (n, layers * D) of the next words from those of the words before, as `TreeLayer.step` does."""
        if self.bidirectional:
            return super().step(x)  # raises an error
        below: list[Any] = [None] * self.layers
        if states is not None:
            below = [*zip(*(state.chunk(self.layers, dim=1) for state in states), strict=True)]
        results: list[tuple[Tensor, Tensor]] = []
        for layer, before in zip(self.stacks[0], below, strict=True):
            results.append(layer.step(results[-1][0] if results else x, before, parents, **more))
        return tuple(torch.cat(parts, dim=1) for parts in zip(*results, strict=True))

    def final(self, h: Tensor, forest: Forest) -> Tensor:
        """Return sentence vectors (trees, directions * layers * D): h of every layer at the end of its direction."""
        if h.shape != (forest.num_nodes, self.width):
            wanted = (forest.num_nodes, self.width)
            raise ValueError(f"h is {tuple(h.shape)}; this layer's states of the forest are {wanted}")
        ends = h.index_select(0, forest.roots)
        if not self.bidirectional:
            return ends
        half = self.width // 2
        return torch.cat([ends[:, :half], h.index_select(0, forest.chain_starts)[:, half:]], dim=1)

    def gates(self) -> dict[str, Tensor]:
        """Return copies of the weights: W_* (D, X), U_* (D, D) and b_* (D) of each stacked layer and direction.

        The names are the paper's with the endings of `torch.nn.LSTM`: W_i_l0 is W_i of the first layer, and, with
        `tied=False`, W_i_l0_reverse that of the second direction. X is D from the second layer on.
        """
        return {
            name + ending: weight.reshape(_without_children(name, weight))
            for ending, cell in self._cells().items()
            for name, weight in cell.gates().items()
        }

    def load_gates(self, weights: Mapping[str, Any]) -> list[str]:
        """Replace weights by the names of `gates`, with those of another program, for example.

        Args:
            weights: tensors or arrays, by the names and with the shapes that `gates` returns. The bias of an equation
                is stored in one parameter; the others that are added to it become 0.

        Returns:
            The names that were not given, in the order of `gates`. These weights keep their values.

        Raises:
            ValueError: if a name or a shape is not one of `gates`. No weight has been changed then.
        """
        named = self.gates()
        new = checked(self, named, weights)
        for ending, cell in self._cells().items():
            shapes = {name: weight.shape for name, weight in cell.gates().items() if name + ending in new}
            cell.load_gates({name: new[name + ending].reshape(shape) for name, shape in shapes.items()})
        return [name for name in named if name not in weights]

    def _cells(self) -> dict[str, NaryTreeLSTM]:
        """Return the layers of all stacks by the endings of their weights' names."""
        return {
            f"_l{number}{ending}": cell
            for ending, stack in zip(("", "_reverse"), self.stacks, strict=False)
            for number, cell in enumerate(stack)
        }


def _without_children(name: str, weight: Tensor) -> torch.Size:
    """Return the shape of a weight without the dimensions for the children, which are 1."""
    return weight.shape[-1:] if name.startswith("b") else weight.shape[-2:]
