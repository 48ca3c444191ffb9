"""Read numbered lines of a path or an iterable, and JSON of any depth."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias, TypeVar

from bough.errors import FormatError
from bough.trees.tree import Tree

T = TypeVar("T")
_SPACE = re.compile(r"[ \t\r\n]*")
Source: TypeAlias = str | os.PathLike[str] | Iterable[str] | Iterable[bytes]


def name_of(source: Source, where: str | None) -> str | None:
    """Return the name of a source for errors: `where` if given, else its path or the name of the open file."""
    if where is not None:
        return where
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else None


def numbered(source: Source, where: str | None, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, counted from `first`, without the line ending and without a BOM."""
    number = first - 1
    with ExitStack() as stack:
        lines: Iterable[str] | Iterable[bytes]
        if isinstance(source, (str, os.PathLike)):
            lines = stack.enter_context(open(source, "rb"))  # as bytes: a line of text ends at \n only
        else:
            lines = source
        try:
            for raw in lines:
                line = raw.decode("utf-8") if isinstance(raw, bytes) else raw
                number += 1
                if not isinstance(line, str):
                    raise TypeError(f"line {number} is {line!r}; expected a string")
                yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise FormatError(f"byte 0x{byte:02x} is not UTF-8", where=where, line=number + 1) from error


def only_tree(trees: Sequence[Tree]) -> Tree:
    """Return the only tree of a list. Raise a FormatError if there are none or several."""
    if len(trees) != 1:
        raise FormatError(f"{len(trees)} trees in the text; parse takes exactly one, read any number")
    return trees[0]


def unless_empty(column: Sequence[T | None] | None) -> Sequence[T | None] | None:
    """Return the column, or None if no node has an entry."""
    return column if column is not None and any(entry is not None for entry in column) else None


def parse_json(text: str, where: str | None = None, line: int | None = None) -> Any:
    """Return the value of a JSON text. Raise a FormatError if it is not JSON, or has a NaN or an infinity."""
    try:
        try:
            return json.loads(text, parse_constant=_refuse, parse_float=_finite)
        except RecursionError:
            return _parse_deep(text)
    except ValueError as error:
        raise FormatError(f"not JSON ({error})", where=where, line=line) from None


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def _finite(text: str) -> float:
    return value if math.isfinite(value := float(text)) else _refuse(text)


def _parse_deep(text: str) -> Any:
    """Decode JSON without recursion, for values nested too deeply for the decoder of the standard library."""
    scalar = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).raw_decode
    opened: list[Any] = []  # the lists and dictionaries around the current position
    keys: list[str] = []  # the current key of each dictionary among them

    def skip(at: int) -> int:
        return _SPACE.match(text, at).end()  # type: ignore[union-attr]

    def expect(what: str, at: int) -> int:
        if text[at : at + 1] not in tuple(what):
            raise json.JSONDecodeError(f"Expecting {' or '.join(map(repr, what))}", text, at)
        return skip(at + 1)

    def key(at: int) -> int:
        expect('"', at)
        name, end = scalar(text, at)
        keys.append(name)
        return expect(":", skip(end))

    at = skip(0)
    while True:
        if text[at : at + 1] in ("[", "{"):
            opened.append([] if text[at] == "[" else {})
            at = skip(at + 1)
            closing = "]" if isinstance(opened[-1], list) else "}"
            if text[at : at + 1] != closing:
                at = key(at) if closing == "}" else at
                continue
            value, at = opened.pop(), skip(at + 1)
        else:
            value, at = scalar(text, at)
            at = skip(at)
        # a value is complete: add it to the list or dictionary around it, and close those that end here
        while opened:
            inside = opened[-1]
            if isinstance(inside, list):
                inside.append(value)
            else:
                inside[keys.pop()] = value
            closing = "]" if isinstance(inside, list) else "}"
            mark, at = text[at : at + 1], expect(f",{closing}", at)
            if mark == ",":
                at = key(at) if closing == "}" else at
                break
            value = opened.pop()
        else:
            if at < len(text):
                raise json.JSONDecodeError("Extra data", text, at)
            return value
