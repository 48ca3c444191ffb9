"""Read numbered lines of a path or an iterable, and JSON of any depth."""

import codecs
import json
import math
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain, islice
from typing import Any, TypeAlias, TypeVar

from bough.errors import FormatError
from bough.formats.encoding import check_encoding, decoded, encoding_of, likely_encoding
from bough.trees.tree import Tree

T = TypeVar("T")
INTEGER = re.compile(r"-?[0-9]{1,18}")
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


def numbered(
    source: Source, where: str | None, first: int = 1, encoding: str | None = None
) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, counted from `first`, without the line ending and without a BOM.

    Bytes are decoded by `encoding`; without one, by their byte order mark, else as UTF-8.
    """
    number = first - 1
    check_encoding(encoding)
    # a file is read as bytes: a line of text ends at \n only
    with open(source, "rb") if isinstance(source, (str, os.PathLike)) else nullcontext(source) as content:
        lines: Iterator[Any] = iter(content)
        try:
            for start in islice(lines, 1):
                lines = chain([start], lines)
                if isinstance(start, bytes):
                    encoding = codecs.lookup(encoding or encoding_of(start)).name
                    lines = lines if encoding == "utf-8" else decoded(lines, encoding)
            for raw in lines:
                line = raw.decode("utf-8") if isinstance(raw, bytes) else raw
                number += 1
                if not isinstance(line, str):
                    raise TypeError(f"line {number} is {line!r}; expected a string")
                yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x}"
            if encoding != "utf-8":
                raise FormatError(
                    f"{byte} is not {encoding or 'UTF-8'}", where=where, line=number + 1
                ) from error
            likely = likely_encoding(b"".join([error.object, *islice(lines, 500)]))
            guess = f"; the file looks like {likely}: encoding={likely!r}" if likely else ""
            raise FormatError(f"{byte} is not UTF-8{guess}", where=where, line=number + 1) from error


def only_tree(trees: Sequence[Tree]) -> Tree:
    """Return the only tree of a list. Raise a FormatError if there are none or several."""
    if len(trees) != 1:
        raise FormatError(f"{len(trees)} trees in the text; parse takes exactly one, read any number")
    return trees[0]


def unless_empty(column: Sequence[T | None] | None) -> Sequence[T | None] | None:
    """Return the column, or None if no node has an entry."""
    return column if column is not None and any(entry is not None for entry in column) else None


def cell(entries: Sequence[Hashable] | None, node: int, kind: str, none: str, separators: str) -> str:
    """Return the text of a node's entry, `none` for None. Raise a ValueError if it would be read as something else."""
    entry = None if entries is None else entries[node]
    if entry is None:
        return none
    text = str(entry)
    if text == none and kind != "token":
        raise ValueError(f"node {node} has {kind} {text!r}, which means none here; use None")
    if not text or any(separator in text for separator in separators):
        blanks = "spaces" if " " in separators else "tabs"
        raise ValueError(f"node {node} has {kind} {text!r}; no {blanks}, line ends or empty text there")
    return text


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
    whole: list[Any] = []  # gets the value
    opened: list[Any] = [whole]  # the lists and dictionaries around the current position
    key: str | None = None  # the key whose value is next
    expected = "value"  # or "first" after an opening bracket, ":" after a key, and "," after a value
    at = 0
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        mark, inside = text[at : at + 1], opened[-1]
        if inside is whole and expected == ",":
            if mark:
                raise json.JSONDecodeError("Extra data", text, at)
            return whole[0]
        closing = "]" if isinstance(inside, list) else "}"
        if mark == closing and expected in ("first", ","):
            opened.pop()
            at, expected = at + 1, ","
        elif expected in (",", ":"):
            if mark != expected:
                wanted = f"',' or '{closing}'" if expected == "," else "':'"
                raise json.JSONDecodeError(f"Expecting {wanted}", text, at)
            at, expected = at + 1, "value"
        elif closing == "}" and key is None:
            if mark != '"':
                raise json.JSONDecodeError("Expecting '\"'", text, at)
            key, at = scalar(text, at)
            expected = ":"
        else:
            nested = mark in ("[", "{")
            value, at = ([] if mark == "[" else {}, at + 1) if nested else scalar(text, at)
            if isinstance(inside, list):
                inside.append(value)
            else:
                inside[key] = value
            key, expected = None, "first" if nested else ","
            if nested:
                opened.append(value)
