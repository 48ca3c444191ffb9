"""The settings of registered layers: their constructors' arguments, checked before anything is built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

import torch

import bough.nn  # the layers that come along register themselves
from bough.models.settings import check_value, nearest, read_value
from bough.nn.registry import Kind


def kind_named(name: str) -> Kind:
    """The registered layer of that name."""
    known = bough.nn.kinds()
    if name not in known:
        raise ValueError(
            f"layer = {name!r}: one of {', '.join(map(repr, known))}{nearest(name, known)}; "
            "bough.nn.register makes a layer of your own known"
        )
    return known[name]


def all_settings() -> set[str]:
    """Every setting that some layer takes."""
    return {setting for kind in bough.nn.kinds().values() for setting in kind.settings}


def takes(encoder: str, setting: str) -> bool:
    """Whether a layer takes a setting, or no layer does, so that it is not the layer's business."""
    return setting in kind_named(encoder).settings or setting not in all_settings()


def read_layer(encoder: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A layer's settings, texts read as their types; one that is another layer's counts only by its default."""
    kind = kind_named(encoder)
    types, found = _types(kind), {}
    for name, value in given.items():
        if name in kind.settings:
            found[name] = read_value(name, types[name], value)
            continue
        owners = [other for other in bough.nn.kinds().values() if name in other.settings]
        value = read_value(name, _types(owners[0])[name], value)
        if all(value != other.settings[name] for other in owners):
            names = " or ".join(repr(other.name) for other in owners)
            raise ValueError(f"{name} = {value!r} is for layer = {names}; here it is {encoder!r}")
    return found


def checked_layer(encoder: str, given: Mapping[str, Any], sizes: tuple[int, int]) -> dict[str, Any]:
    """All of a layer's settings, those not given by their defaults; the layer itself says what it does not take.

    `sizes` are those of its input and its states.
    """
    kind = kind_named(encoder)
    types, found = _types(kind), {**kind.settings, **given}
    for name, value in found.items():
        check_value(name, types[name], value)
    with torch.device("meta"):  # no memory, no draw
        kind.build(*sizes, 1, found)
    return found


def _types(kind: Kind) -> dict[str, Any]:
    hints = get_type_hints(kind.layer.__init__)
    return {name: hints.get(name, type(default)) for name, default in kind.settings.items()}
