"""Settings as people write them: keys that may be misspelt, values that come as text."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args, get_origin


def check_keys(given: Iterable[str], known: Iterable[str]) -> None:
    """A ValueError for the first key that is not known, with the nearest one that is."""
    known = list(known)
    for key in given:
        if key not in known:
            raise ValueError(f"unknown key {key!r}{nearest(key, known)}")


def nearest(word: str, known: Iterable[str]) -> str:
    """ "; did you mean ...?" where something known is close to the word."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def read_value(name: str, kind: Any, value: Any) -> Any:
    """A text as the type of its key; what is not a text stays as it is."""
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
    """A ValueError for a value of another type, or not among those there are."""
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{name} = {value!r}: one of {', '.join(map(repr, get_args(kind)))}")
    elif type(value) is not kind:
        raise ValueError(f"{name} = {value!r}: must be {kind.__name__}, not {type(value).__name__}")
    elif kind is float and value != value:
        raise ValueError(f"{name} is not a number")


_RANGES: dict[str, Callable[[float], bool]] = {
    "at least 1": lambda value: 1 <= value < math.inf,
    "0 or more": lambda value: 0 <= value < math.inf,
    "more than 0": lambda value: 0 < value < math.inf,
    "at least 0, below 1": lambda value: 0 <= value < 1,
}


def in_range(config: object, wanted: str, *names: str) -> None:
    """Raise a ValueError for the first of these settings that is out of range."""
    for name in names:
        if not _RANGES[wanted](getattr(config, name)):
            raise ValueError(f"{name} = {getattr(config, name)}: {wanted}")
