"""Base classes of layers and heads: initial weights as in the paper, checks of inputs, states per node and tree."""

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.nn.engine import threads_for
from bough.trees.forest import Forest
from bough.trees.tree import Tree

Reads = Literal["constituency", "dependency", "words"]
F = TypeVar("F", bound=Callable[..., Any])


class UniformInit(nn.Module):
    """Module whose weights and biases are initialized from U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    `weight` declares a parameter; `reset_parameters` draws all of them, in the order of their declaration.
    """

    shown: ClassVar[tuple[str, ...]] = ()  # the attributes that `repr` shows, after the sizes

    def __init__(self, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self._factory = {"device": device, "dtype": dtype}
        self._fan_in: dict[str, int] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}

    if TYPE_CHECKING:  # `weight` makes attributes that mypy does not see

        def __getattr__(self, name: str) -> Any: ...

    def extra_repr(self) -> str:
        sizes = [str(vars(self)[name]) for name in ("input_size", "hidden_size") if name in vars(self)]
        return ", ".join([*sizes, *(f"{name}={getattr(self, name)!r}" for name in self.shown)])

    def weight(self, name: str, *shape: int, fan_in: int) -> None:
        """Declare the parameter `self.<name>`, which `reset_parameters` draws."""
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
        """Draw the weights that `weight` declared, and reset the modules inside."""
        for name, fan_in in self._fan_in.items():
            bound = fan_in**-0.5 if fan_in else 0.0
            self.get_parameter(name).uniform_(-bound, bound)
        inside = [*self.children()][::-1]
        while inside:
            module = inside.pop()
            if callable(reset := getattr(module, "reset_parameters", None)):
                reset()
            else:  # a container such as nn.ModuleList
                inside += [*module.children()][::-1]


def outside_compilation(function: F) -> F:
    """Exclude a function from `torch.compile`: compiled code that calls it has a graph break there.

    Unlike `torch.compiler.disable`, it does not import the compiler, which takes seconds, before anything is compiled.
    """
    disabled: Callable[..., Any] | None = None

    @functools.wraps(function)
    def called(*args: Any, **settings: Any) -> Any:
        nonlocal disabled
        if disabled is None:
            if "torch._dynamo" not in sys.modules:
                return function(*args, **settings)
            disabled = torch.compiler.disable(function)
        return disabled(*args, **settings)

    called._torchdynamo_disable = True  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def looks_for_nan(x: Tensor) -> bool:
    """Return whether inputs are searched for NaN: on the CPU always, on a GPU, which would wait, if BOUGH_CHECK=1."""
    return x.device.type == "cpu" or os.environ.get("BOUGH_CHECK") == "1"


class BaseLayer(UniformInit):
    """Base class of all layers, which compute states of nodes and vectors of trees from the inputs of the nodes.

    A subclass sets the class attributes `name`, by which recipes find it; `reads`, the kind of
    trees it is for ("words" means chains of words); and `phrases`, whether every node has a state.

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
    takes_kinds: ClassVar[bool] = False
    integer_inputs: ClassVar[bool] = False

    def __init__(
        self, input_size: int, width: int, *, device: Any = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__(device=device, dtype=dtype)
        self.input_size, self.width = input_size, width

    @outside_compilation
    def forward(
        self,
        x: Tensor | Mapping[int, Tensor],
        forest: Forest,
        *,
        edge_features: Tensor | None = None,
        kinds: Tensor | Sequence[int] | None = None,
        **more: Any,
    ) -> Tensor | tuple[Tensor, ...]:
        """Return the states of all nodes, in their order, or of all trees if the layer has no phrases.

        `edge_features` (E, F) has a row for each column of `forest.edge_index`, for a layer that reads them. `kinds`
        (N,) has the kind of each node, an int from 0, for a layer that reads kinds; x may then be a dictionary from
        each kind to the inputs of its nodes, of any width up to `input_size`.
        """
        if isinstance(x, Mapping) and kinds is not None:
            x = self._padded(x, torch.as_tensor(kinds))
        if not isinstance(x, Tensor):
            expected = "a tensor with one row per node, in the order layer(x, forest)"
            raise TypeError(f"x is a {type(x).__name__}; it must be {expected}")
        if not isinstance(forest, Forest):
            given = "[tree]" if isinstance(forest, Tree) else "trees"
            raise TypeError(f"forest is a {type(forest).__name__}; a layer takes bough.Forest({given})")
        if (
            edge_features is None
            and kinds is None
            and not more
            and (found := self.infer(x, forest)) is not None
        ):
            return found
        for part in self.modules():
            if isinstance(part, UniformInit):
                part.check_weights()
        x = self._checked_inputs(x)
        if x.shape[0] != forest.num_nodes:
            raise ValueError(f"x has {len(x)} rows; the forest has {forest.num_nodes} nodes, one row each")
        if forest.device != x.device:
            raise ValueError(f"the forest is on {forest.device}, x on {x.device}; use forest.to(x.device)")
        if edge_features is not None:
            more["edge_features"] = self._check_edge_features(edge_features, forest)
            forest = forest.unshared  # subtrees with equal keys may have edges with different features
        if kinds is not None:
            if not self.takes_kinds:
                raise ValueError(f"{type(self).__name__} does not use kinds")
            forest = forest.with_kinds(kinds)
        nodes = self.input_nodes(forest)
        with threads_for(forest.level_sizes):
            rows = x.index_select(0, nodes)
            # the sum is one fast pass on the CPU; only if it is NaN are the rows searched
            if looks_for_nan(rows) and bool(rows.detach().sum().isnan()) and bool(rows.isnan().any()):
                row = int(rows.isnan().any(dim=1).nonzero()[0])
                raise ValueError(f"x has a NaN in the row of {forest.describe_node(int(nodes[row]))}")
            states = self.node_states(rows, forest, **more)
        return states if len(states) > 1 else states[0]

    def infer(self, x: Tensor, forest: Forest, table: Any = None) -> tuple[Tensor, ...] | None:
        """Compute a small forest without a gradient by one compiled call, or return None if that is not possible.

        Return what `forward` returns. `table` has the states of known subtrees, see `StateCache`.
        """
        return None

    def step(self, x: Tensor | None, states: Any = None, parents: Any = None, **more: Any) -> Any:
        """Raise a ValueError: only layers whose nodes read nothing but children, or parents, have a step."""
        wrong = f"{type(self).__name__} has no step"
        raise ValueError(f"{wrong}; the state of a node depends on more than its children, or its parents")

    def _checked_inputs(self, x: Tensor) -> Tensor:
        """Return x in the type that the layer reads, or raise a ValueError if its type or shape does not fit."""
        if not self.integer_inputs:
            x = self._cast("x", x)
        elif x.is_floating_point() or x.is_complex():
            raise ValueError(f"x is {x.dtype}; {type(self).__name__} takes ints, such as the ids of words")
        if x.shape[1:] != (self.input_size,) and not (
            self.integer_inputs and x.dim() == self.input_size == 1
        ):
            raise ValueError(f"x is {tuple(x.shape)}; the layer takes (nodes, {self.input_size})")
        return x

    def _cast(self, name: str, given: Tensor) -> Tensor:
        """Return a tensor in the type of the weights, cast under autocast only. Raise a ValueError if it differs."""
        like = next(self.parameters(), None)
        if like is None or (given.dtype == like.dtype and given.device == like.device):
            return given
        castable = given.device == like.device and given.is_floating_point()
        if castable and torch.is_autocast_enabled(given.device.type):
            return given.to(like.dtype)
        found = f"{given.dtype} on {given.device}"
        raise ValueError(f"{name} is {found}, the layer {like.dtype} on {like.device}; use .to() on one")

    def _padded(self, x: Mapping[int, Tensor], kinds: Tensor) -> Tensor:
        """Return the inputs of all nodes (N, X), padded with zeros, from those of the nodes of each kind."""
        present, counts = (part.tolist() for part in kinds.unique(return_counts=True))
        if sorted(x) != present:
            raise ValueError(f"x has inputs for the kinds {sorted(x)}; kinds has {present}")
        for kind, count in zip(present, counts, strict=True):
            if x[kind].dim() != 2 or len(x[kind]) != count or x[kind].shape[1] > self.input_size:
                wanted = f"({count}, up to {self.input_size}), a row for each node of the kind"
                raise ValueError(f"x[{kind}] is {tuple(x[kind].shape)}; it must be {wanted}")
        order = kinds.argsort(stable=True)
        rows = [functional.pad(x[kind], (0, self.input_size - x[kind].shape[1])) for kind in present]
        return torch.cat(rows).index_select(0, order.argsort().to(rows[0].device))

    def _check_edge_features(self, edge_features: Tensor, forest: Forest) -> Tensor:
        if "edge_features" not in inspect.signature(self.node_states).parameters:
            raise ValueError(f"{type(self).__name__} does not use edge_features")
        edge_features, edges = self._cast("edge_features", edge_features), forest.edge_index.shape[1]
        if edge_features.dim() != 2 or len(edge_features) != edges:
            wanted = f"({edges}, features), a row for each column of forest.edge_index"
            raise ValueError(f"edge_features is {tuple(edge_features.shape)}; it must be {wanted}")
        if looks_for_nan(edge_features) and bool(edge_features.isnan().any()):
            row = int(edge_features.isnan().any(dim=1).nonzero()[0])
            child, parent = (forest.describe_node(node) for node in forest.edge_index[:, row].tolist())
            raise ValueError(f"edge_features has a NaN in row {row}, the edge from {child} to {parent}")
        return edge_features

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        """Return all states of all nodes, (N, D) each, or the vectors of all trees, from x (M, X) of `input_nodes`."""
        if not self.phrases:
            return (self.sentences(x, forest),)
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
        """Return states (R, width) and the row of each node's state (N,), from x (M, X) of `input_nodes`."""
        raise NotImplementedError

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        """Return a vector per tree (trees, width), by default the state of the root, from x (M, X) of `input_nodes`.

        `others` (trees,) has the index of the tree that each tree is compared with, for a layer that reads both.
        """
        forest.check_one_root()
        states, row_of = self.rows(x, forest)
        return states.index_select(0, row_of.index_select(0, forest.roots))
