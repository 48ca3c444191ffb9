"""Register layers by the names that recipes and model folders use, with the settings of each."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

from bough.nn.base import BaseLayer, Reads

E = TypeVar("E", bound=type[BaseLayer])
Settings = Mapping[str, Any]
_SIZES = ("self", "input_size", "hidden_size", "relations", "edge_size", "device", "dtype")


@dataclass(frozen=True)
class Kind:
    """Registered layer: its name, its class, the trees it reads, and the arguments that the name fixes."""

    name: str
    layer: type[BaseLayer]
    reads: Reads
    fixed: Settings = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the constructor other than the sizes, with their defaults."""
        return {
            name: parameter.default
            for name, parameter in self._parameters.items()
            if name not in _SIZES and name not in self.fixed and parameter.kind is not parameter.VAR_KEYWORD
        }

    @property
    def wants_relations(self) -> bool:
        """Whether the layer has weights for each relation."""
        return "relations" in self._parameters

    @property
    def wants_edges(self) -> bool:
        """Whether the layer reads the features of edges; its argument `edge_size` is their number."""
        return "edge_size" in self._parameters

    @cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.layer.__init__).parameters

    def build(
        self, input_size: int, hidden_size: int, relations: int, settings: Settings, edge_size: int = 1
    ) -> BaseLayer:
        """Return a new layer of this kind."""
        sizes = {"input_size": input_size, "hidden_size": hidden_size}
        sizes |= {"relations": relations, "edge_size": edge_size}
        wanted: dict[str, Any] = {name: size for name, size in sizes.items() if name in self._parameters}
        return self.layer(**wanted, **self.fixed, **settings)


_KINDS: dict[str, Kind] = {}


def register(layer: E, *, name: str = "", reads: Reads | None = None, **fixed: Any) -> E:
    """Register a layer by its `name`, for `layer = "name"` in a recipe. Can be used as a decorator.

    Args:
        layer: a subclass of `BaseLayer`; the other arguments of its constructor are settings with defaults.
        name: the name, if it is not `layer.name`.
        reads: the kind of trees, if it is not `layer.reads`.
        fixed: arguments of the constructor that this name fixes, so that one class can have several names.

    Returns:
        The layer.

    Examples:
        >>> import bough
        >>> bough.nn.register(bough.nn.BiTreeLSTM, name="bi-ternary", reads="constituency", arity=3).__name__
        'BiTreeLSTM'
    """
    name = name or layer.name
    if not name:
        raise ValueError(f"{layer.__name__} has no name; set the class attribute `name`")
    kind = Kind(name, layer, reads or layer.reads, fixed)
    for setting, default in kind.settings.items():
        if default is inspect.Parameter.empty:
            wrong = f"{layer.__name__}: the setting {setting!r} has no default"
            raise ValueError(f"{wrong}; give it one, since a recipe may omit it")
    known, origin = _KINDS.get(name), attrgetter("__module__", "__qualname__")
    if known is not None and origin(known.layer) != origin(layer):
        owner = known.layer.__name__
        raise ValueError(f"the name {name!r} is {owner}'s; choose another for {layer.__name__}")
    _KINDS[name] = kind  # again, if the cell of a notebook is run twice
    return layer


def kinds() -> dict[str, Kind]:
    """Return all registered layers by name, with the trees they read and their settings.

    Examples:
        >>> import bough
        >>> bough.nn.kinds()["tree-gru"].settings
        {'recurrent_dropout': 0.0}
    """
    return dict(_KINDS)
