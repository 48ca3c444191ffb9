"""The base class of layers: weights that start as in the paper, checks of the input, states per node and per tree."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

import torch
from torch import Tensor, nn

from bough.nn.engine import threads_for
from bough.trees.forest import Forest

Reads = Literal["constituency", "dependency", "words"]
F = TypeVar("F", bound=Callable[..., Any])


class UniformInit(nn.Module):
    """A module whose weights and biases start U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    `weight` declares one; `reset_parameters` draws all of them, in the order declared.
    """

    def __init__(self, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self._factory = {"device": device, "dtype": dtype}
        self._fan_in: dict[str, int] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}

    def weight(self, name: str, *shape: int, fan_in: int) -> None:
        """Declare the parameter `self.name`; it is drawn by `reset_parameters`."""
        self.register_parameter(name, nn.Parameter(torch.empty(*shape, **self._factory)))
        self._fan_in[name], self._shapes[name] = fan_in, shape

    def check_weights(self) -> None:
        """Raise a ValueError if a weight has been replaced by one of another shape, type or device."""
        like: Tensor | None = None
        for name, shape in self._shapes.items():
            weight = self._parameters.get(name)
            if weight is None:  # a parametrization computes it
                continue
            like = weight if like is None else like
            if weight.shape != shape or weight.dtype != like.dtype or weight.device != like.device:
                found = f"{tuple(weight.shape)} {weight.dtype} on {weight.device}"
                wanted = f"{shape} {like.dtype} on {like.device}"
                raise ValueError(f"{name} of {type(self).__name__} is {found}; it must be {wanted}")

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw every weight that `weight` declared, and those of the modules inside."""
        for name, fan_in in self._fan_in.items():
            bound = fan_in**-0.5 if fan_in else 0.0
            self.get_parameter(name).uniform_(-bound, bound)
        inside = [*self.children()][::-1]
        while inside:
            module = inside.pop()
            if callable(reset := getattr(module, "reset_parameters", None)):
                reset()
            else:  # a list of modules
                inside += [*module.children()][::-1]


def outside_compilation(function: F) -> F:
    """Run a function as it stands where the code around it is compiled: a graph break, never an error.

    This is `torch.compiler.disable`, but it does not import the compiler, which takes seconds, where nobody compiles.
    """
    as_it_stands: Callable[..., Any] | None = None

    @functools.wraps(function)
    def called(*args: Any, **settings: Any) -> Any:
        nonlocal as_it_stands
        if as_it_stands is None:
            if "torch._dynamo" not in sys.modules:
                return function(*args, **settings)
            as_it_stands = torch.compiler.disable(function)
        return as_it_stands(*args, **settings)

    called._torchdynamo_disable = True  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


class BaseLayer(UniformInit):
    """Base class of every layer: a forest and its nodes' vectors give a state per node and a vector per tree.

    A class declares what it is: `name`, by which recipes find it; `reads`, the trees it is made for ("words" means
    chains of words); `phrases`, whether every node has a state. No other code asks what kind of layer it is.

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
        """Return the states of every node, in the nodes' order, or of every tree from a layer without phrases."""
        for part in self.modules():
            if isinstance(part, UniformInit):
                part.check_weights()
        self._check_input(x, forest)
        nodes = self.input_nodes(forest)
        with threads_for(forest.level_sizes):
            rows = x.index_select(0, nodes)
            if bool(rows.detach().sum().isnan()) and bool(rows.isnan().any()):
                row = int(rows.isnan().any(dim=1).nonzero()[0])
                raise ValueError(f"x has a NaN in the row of {forest.describe_node(int(nodes[row]))}")
            states = self.node_states(rows, forest, **more)
        return states if len(states) > 1 else states[0]

    def _check_input(self, x: Tensor, forest: Forest) -> None:
        if x.dim() != 2 or x.shape[1] != self.input_size:
            raise ValueError(f"x is {tuple(x.shape)}; the layer takes (nodes, {self.input_size})")
        if x.shape[0] != forest.size:
            raise ValueError(f"x has {x.shape[0]} rows; the forest has {forest.size} nodes, one row each")
        like = next(self.parameters(), None)
        if like is not None and (x.dtype != like.dtype or x.device != like.device):
            raise ValueError(
                f"x is {x.dtype} on {x.device}, the layer {like.dtype} on {like.device}; use .to() on one"
            )
        if forest.device != x.device:
            raise ValueError(f"the forest is on {forest.device}, x on {x.device}; use forest.to(x.device)")

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        """Return every state of every node, (N, D) each, from x (M, X) of `input_nodes`."""
        states, row_of = self.rows(x, forest)
        return (states.index_select(0, row_of),)

    @property
    def shares(self) -> bool:
        """Whether equal subtrees have equal states and are computed once."""
        return True

    def input_nodes(self, forest: Forest) -> Tensor:
        """Return the nodes (M,) whose x is read, one per distinct input."""
        return forest.inputs

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """Return states (R, width) and for each node (N,) the row of its state, from x (M, X) of `input_nodes`."""
        raise NotImplementedError

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        """Return a vector per tree (trees, width), from x (M, X) of `input_nodes`: the root's state, by default.

        `others` (trees,) is the tree that each one is compared with, for a layer that reads both.
        """
        states, row_of = self.rows(x, forest)
        return states.index_select(0, row_of.index_select(0, forest.roots))
