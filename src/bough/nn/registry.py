"""Layers by name: what a recipe or a model folder calls for, and the settings that each takes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from bough.nn.base import BaseLayer, Reads

E = TypeVar("E", bound=type[BaseLayer])
_SIZES = ("self", "input_size", "hidden_size", "relations", "device", "dtype")


@dataclass(frozen=True)
class Kind:
    """A layer as recipes know it: its name, the trees it reads, and the arguments that its name settles."""

    name: str
    layer: type[BaseLayer]
    reads: Reads
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """What its constructor takes beside the sizes, each with its default."""
        return {
            name: parameter.default
            for name, parameter in self._parameters.items()
            if name not in _SIZES and name not in self.fixed and parameter.kind is not parameter.VAR_KEYWORD
        }

    @property
    def wants_relations(self) -> bool:
        """Whether it has weights for each relation."""
        return "relations" in self._parameters

    @cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.layer.__init__).parameters

    def build(
        self, input_size: int, hidden_size: int, relations: int, settings: Mapping[str, Any]
    ) -> BaseLayer:
        """A new layer of this kind."""
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "relations": relations}
        wanted: dict[str, Any] = {name: size for name, size in sizes.items() if name in self._parameters}
        return self.layer(**wanted, **self.fixed, **settings)


_KINDS: dict[str, Kind] = {}


def register(layer: E, *, name: str = "", reads: Reads | None = None, **fixed: Any) -> E:
    """Make a layer known by its `name`, so that `encoder = "name"` in a recipe means it; usable as a decorator.

    Args:
        layer: a subclass of `BaseLayer`; the other arguments of its constructor are settings with defaults.
        name: another name than `layer.name`.
        reads: other trees than `layer.reads`.
        fixed: arguments of the constructor that this name settles, so that one class can have several names.

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
            raise ValueError(
                f"{layer.__name__}: the setting {setting!r} has no default; a recipe may leave it out"
            )
    known = _KINDS.get(name)
    if known is not None and _origin(known.layer) != _origin(layer):
        raise ValueError(
            f"the name {name!r} is {known.layer.__name__}'s; choose another for {layer.__name__}"
        )
    _KINDS[name] = kind  # a cell of a notebook may be run again
    return layer


def _origin(layer: type[BaseLayer]) -> tuple[str, str]:
    return layer.__module__, layer.__qualname__


def kinds() -> dict[str, Kind]:
    """Every registered layer by name, with the trees it reads and its settings.

    Examples:
        >>> import bough
        >>> bough.nn.kinds()["tree-gru"].settings
        {'recurrent_dropout': 0.0}
    """
    return dict(_KINDS)
