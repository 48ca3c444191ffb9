"""What a model asks of whatever turns a forest into vectors: a tree layer, a stack of them, or a plain mean."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from bough.nn.compile_guard import outside_compilation
from bough.nn.init import Weighted
from bough.nn.threads import threads_for
from bough.trees.forest import Forest

Reads = Literal["constituency", "dependency", "words"]


class BaseLayer(Weighted):
    """From a forest and the vectors of its words to one state per node and one vector per tree.

    The base class of every layer. A class declares what it is: `name`, by which recipes find it; `reads`, the trees
    it is made for ("words" means chains of words); `phrases`, whether every node has a state. Nothing else in the
    package asks what kind of layer it is.

    Args:
        input_size: the width X of an input row.
        width: the width of a state.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes -> (N, width), or one such tensor per state.

    Examples:
        >>> import bough
        >>> layer = bough.nn.ChildSumTreeLSTM(300, 150)
        >>> isinstance(layer, bough.nn.BaseLayer), layer.name, layer.reads, layer.width
        (True, 'dependency', 'dependency', 150)
    """

    name: ClassVar[str] = ""
    reads: ClassVar[Reads] = "dependency"
    phrases: ClassVar[bool] = True

    def __init__(
        self, input_size: int, width: int, *, device: Any = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__(device=device, dtype=dtype)
        self.input_size, self.width = input_size, width

    @outside_compilation
    def forward(self, x: Tensor, forest: Forest, **more: Any) -> Tensor | tuple[Tensor, ...]:
        """x (N, X) -> every node's states, in the nodes' order; from an encoder of whole sentences (trees, width)."""
        for part in self.modules():
            if isinstance(part, Weighted):
                part.check_weights()
        check_input(x, forest, self.input_size, next(self.parameters(), None))
        nodes = self.input_nodes(forest)
        with threads_for(forest.level_sizes):
            rows = x.index_select(0, nodes)
            check_numbers(rows, nodes, forest)
            found = self.node_states(rows, forest, **more)
        return found if len(found) > 1 else found[0]

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        """x (M, X) of `input_nodes` -> every state of every node, (N, D) each."""
        states, row_of = self.rows(x, forest)
        return (states.index_select(0, row_of),)

    @property
    def shares(self) -> bool:
        """Whether equal subtrees have equal states, so that they may be computed once."""
        return True

    def input_nodes(self, forest: Forest) -> Tensor:
        """(M,) the nodes whose x is read, one per distinct input."""
        return forest.inputs

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """x (M, X) of `input_nodes` -> states (R, width), and per node (N,) the row that holds its state."""
        raise NotImplementedError

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        """x (M, X) of `input_nodes` -> (trees, width), the root's state unless a layer says otherwise.

        `others` (trees,) is the tree that each one is compared with, for a layer that reads both.
        """
        states, row_of = self.rows(x, forest)
        return states.index_select(0, row_of.index_select(0, forest.roots))


def check_input(x: Tensor, forest: Forest, width: int, like: Tensor | None) -> None:
    """A clear error for an x that does not fit; `like` is a weight of the layer, which has a type and a device."""
    if x.dim() != 2 or x.shape[1] != width:
        raise ValueError(f"x is {tuple(x.shape)}; the layer takes (nodes, {width})")
    if x.shape[0] != forest.size:
        raise ValueError(f"x has {x.shape[0]} rows; the forest has {forest.size} nodes, one row each")
    if like is not None and (x.dtype != like.dtype or x.device != like.device):
        raise ValueError(
            f"x is {x.dtype} on {x.device}, the layer {like.dtype} on {like.device}; use .to() on one"
        )
    if forest.device != x.device:
        raise ValueError(f"the forest is on {forest.device}, x on {x.device}; use forest.to(x.device)")


def check_numbers(x: Tensor, nodes: Tensor, forest: Forest) -> None:
    """A clear error for a NaN in the rows that count: `x` holds the inputs of `nodes`."""
    if bool(x.detach().sum().isnan()) and bool(x.isnan().any()):
        row = int(x.isnan().any(dim=1).nonzero()[0])
        raise ValueError(f"x has a NaN in the row of {forest.place(int(nodes[row]))}")
