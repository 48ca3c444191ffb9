"""Where text comes from: numbered lines of a path, an open file or any iterable."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from bough.errors import FormatError

Source: TypeAlias = str | os.PathLike[str] | Iterable[str] | Iterable[bytes]


def name_of(source: Source, where: str | None) -> str | None:
    """What to call a source in an error: `where` if given, else its path or its file's name."""
    if where is not None:
        return where
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else None


def numbered(source: Source, where: str | None, first: int = 1) -> Iterator[tuple[int, str]]:
    """Line numbers from `first` on, and the lines without their ends and without a BOM."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:  # as bytes: lines end at \n only, and bad UTF-8 has a line number
            yield from _decoded(file, where, first)
    else:
        yield from _decoded(source, where, first)


def _decoded(
    lines: Iterable[str] | Iterable[bytes], where: str | None, first: int
) -> Iterator[tuple[int, str]]:
    number = first - 1
    try:
        for raw in lines:
            line = raw.decode("utf-8") if isinstance(raw, bytes) else raw
            number += 1
            yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise FormatError(f"byte 0x{byte:02x} is not UTF-8", where=where, line=number + 1) from error
