"""Check and convert settings: keys, values, and arguments of registered layers."""

import difflib
import math
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

import torch

import bough.nn  # registers the layers of the library
from bough.nn.registry import Kind


def check_keys(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a ValueError for the first unknown key, with the most similar known key."""
    known = list(known)
    for key in given:
        if key not in known:
            raise ValueError(f"unknown key {key!r}{nearest(key, known)}")


def check_device(device: Any, name: str = "device") -> None:
    """Raise a ValueError of one line, which begins with `name`, if torch does not have the device."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{name} {device}: {reason}") from None


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" if a known word is similar to the given one, else an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def read_value(name: str, kind: Any, value: Any) -> Any:
    """Return a string, or an integer for a float, converted to the type of its key."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str) or kind is str or get_origin(kind) is Literal:
        return value
    if kind is bool:
        if value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise ValueError(f"{name} = {value!r}: true or false")
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{name} = {value!r}: {'a whole number' if kind is int else 'a number'}") from None


def check_value(name: str, kind: Any, value: Any) -> None:
    """Raise a ValueError for a value of another type or not among the choices, and for NaN."""
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{name} = {value!r}: one of {', '.join(map(repr, get_args(kind)))}")
    elif type(value) is not kind:
        raise ValueError(f"{name} = {value!r}: must be {kind.__name__}, not {type(value).__name__}")
    elif kind is float and math.isnan(value):
        raise ValueError(f"{name} is not a number")


def in_range(config: object, wanted: str, *names: str) -> None:
    """Raise a ValueError for the first of these settings that is out of range.

    `wanted` is "at least 1", "0 or more", "more than 0" or "at least 0, below 1".
    """
    for name in names:
        value = getattr(config, name)
        fits = {
            "at least 1": value >= 1,
            "0 or more": value >= 0,
            "more than 0": value > 0,
            "at least 0, below 1": 0 <= value < 1,
        }
        if not fits[wanted] or math.isinf(value):
            raise ValueError(f"{name} = {value}: {wanted}")


def kind_named(name: str) -> Kind:
    """Return the registered layer of a name. Raise a ValueError if there is none."""
    known = bough.nn.kinds()
    if name not in known:
        names = f"{', '.join(map(repr, known))}{nearest(name, known)}"
        way = "bough.nn.register makes a layer of your own known"
        raise ValueError(f"layer = {name!r}: one of {names}; {way}")
    return known[name]


def all_settings() -> set[str]:
    """Return the names of the settings of all registered layers."""
    return {setting for kind in bough.nn.kinds().values() for setting in kind.settings}
