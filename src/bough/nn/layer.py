"""`TreeLayer`: a layer is its equations, what one node computes from its input and its children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from bough.nn.base import BaseLayer
from bough.nn.children import Children
from bough.nn.dropout import dropout_mask
from bough.nn.engine import run_equations
from bough.nn.kernels.loader import takes
from bough.trees.forest import Forest


class TreeLayer(BaseLayer):
    """A recursive layer: `node` says what a node's states are, and the engine runs it over any forest.

    A subclass sets up its weights and writes two methods: `input_map`, what the equations make of the input alone,
    computed once per distinct input; and `node`, the equations for any number of nodes whose children are done.
    Batching, sharing of equal subtrees, the gradient and the checks are inherited.

    With `from_roots = True` the direction is reversed: `node(a, above)` reads the parent's states. With
    `leaf_inputs = True` only nodes without children have an input; they go through `at_leaf`, and `node` gets None
    for `a`.

    Args:
        input_size: the width X of an input row.
        states: the width of each state of a node; heads read the first.
        recurrent_dropout: the probability with which `below.drop(...)` drops an entry while training.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes -> one (N, D) per state; a single state is returned without a tuple.

    Examples:
        >>> import torch, bough
        >>> class Sum(bough.nn.TreeLayer):
        ...     def __init__(self, input_size, hidden_size):
        ...         super().__init__(input_size, states=(hidden_size,))
        ...         self.W = torch.nn.Linear(input_size, hidden_size)
        ...         self.U = torch.nn.Linear(hidden_size, hidden_size)
        ...
        ...     def input_map(self, x):
        ...         return self.W(x)
        ...
        ...     def node(self, a, below):
        ...         (h_k,) = below.states
        ...         return (torch.tanh(a + self.U(below.sum(h_k))),)
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1])])
        >>> Sum(300, 150)(torch.randn(3, 300), forest).shape
        torch.Size([3, 150])
    """

    from_roots: ClassVar[bool] = False
    equations: ClassVar[tuple[str, ...]] = ("node", "at_leaf")  # the methods that a kernel stands for

    def __init__(
        self,
        input_size: int,
        states: Sequence[int],
        *,
        recurrent_dropout: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if not states:
            raise ValueError("states=(): a node has at least one state")
        if not 0 <= recurrent_dropout < 1:
            raise ValueError(f"recurrent_dropout={recurrent_dropout}: at least 0, below 1")
        super().__init__(input_size, states[0], device=device, dtype=dtype)
        self.states, self.recurrent_dropout = tuple(states), recurrent_dropout
        self.leaf_inputs = False
        self.fast = True  # False: run the equations, even where there is a kernel for them

    def input_map(self, x: Tensor) -> Tensor:
        """Return what the equations make of the input alone, (M, A) from x (M, X)."""
        return x

    def node(self, a: Any, below: Children) -> tuple[Tensor, ...]:
        """Return one (n, D) per state, from a (n, A) and the children's states."""
        raise NotImplementedError

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor, ...]:
        """Return what `node` returns, for nodes without children: `below` is empty."""
        return self.node(a, below)

    def check(self, forest: Forest) -> None:
        """Raise a ValueError if the layer cannot read this forest."""

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        row_of = self.schedule(forest).unit_of
        return tuple(state.index_select(0, row_of) for state in self.compose(self.input_map(x), forest))

    @property
    def shares(self) -> bool:
        return not (self.from_roots or (self.training and self.recurrent_dropout))

    def schedule(self, forest: Forest) -> Forest:
        """Return the forest in the order in which this layer computes it."""
        if self.from_roots:
            return forest.from_roots
        return forest if self.shares else forest.unshared

    def input_nodes(self, forest: Forest) -> Tensor:
        forest = self.schedule(forest)
        return forest.node_of[: forest.leaves] if self.leaf_inputs else forest.inputs

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        return self.compose(self.input_map(x), forest)[0], self.schedule(forest).unit_of

    def compose(self, a: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        """Return one (U, D) per state, for the units of the schedule, from `input_map`'s rows for `input_nodes`."""
        self.check_weights()
        forest = self.schedule(forest)
        self.check(forest)
        some = next(self.parameters(), None)
        if some is not None and a.dtype != some.dtype:
            a = a.to(some.dtype)  # autocast made it another
        dropout = None
        if self.training and self.recurrent_dropout:
            rows = len(forest.node_of) - (forest.leaves if self.leaf_inputs else 0)
            dropout = dropout_mask(a, rows, self.states[-1], self.recurrent_dropout)
        if self._has_kernel() and takes(a, dropout, *self.parameters()):
            return self.run_kernel(a, forest, dropout)
        return run_equations(self, a, forest, dropout)

    def with_input_map(self, W: Tensor, b: Tensor) -> dict[str, Tensor]:
        """Return the weights with which `input_map` is W x + b, for a model that stores its words as a smaller x."""
        raise ValueError(f"{type(self).__name__} has no input map that can be replaced")

    def run_kernel(self, a: Tensor, forest: Forest, dropout: Tensor | None) -> tuple[Tensor, ...]:
        """Return what `run_equations` returns, by compiled code; see `bough.nn.kernels`."""
        raise NotImplementedError

    def _has_kernel(self) -> bool:
        """Return whether there is a kernel for exactly these equations, which a subclass may have changed."""
        owner = next(
            kind for kind in type(self).__mro__ if issubclass(kind, TreeLayer) and "run_kernel" in vars(kind)
        )
        same = all(getattr(type(self), name) is getattr(owner, name) for name in owner.equations)
        return self.fast and owner is not TreeLayer and same and not self.from_roots
