"""Read tables as people have them, one row at a time: CSV with commas or semicolons, tabs, JSON lines."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from bough.errors import FormatError
from bough.formats.lines import numbered

JSON_LINES = (".jsonl", ".ndjson", ".json")
TABBED = (".tsv", ".tab", ".txt")
_LONGEST = 10_000_000  # characters of a cell
Rows = Iterator[tuple[int, dict[str, str]]]


def read_table(path: Path) -> tuple[list[str], Rows]:
    """Return the names of a table's columns, and its rows with their line numbers.

    The columns of JSON lines are the keys of the first object; a row may lack some.
    """
    if path.suffix.lower() not in JSON_LINES:
        return table_of(_utf8_lines(path), path)
    first = next(_json_rows(path), None)
    if first is None:
        raise FormatError("an empty file", where=str(path))
    return list(first[1]), _json_rows(path)


def rows_with(path: Path, wanted: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a published CSV file. Raise FormatError unless it has at least the wanted columns."""
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        for name in wanted:
            if name not in (table.fieldnames or ()):
                raise FormatError(f"no column {name!r}", where=str(path), line=1)
        yield from table


def table_of(lines_of_file: Iterable[bytes], path: Path) -> tuple[list[str], Rows]:
    """Return the columns and the rows of a CSV or tabbed file, from its lines.

    No line is read before the row that needs it. `path` tells the format, and names the file in errors.
    """
    where = str(path)
    lines = numbered(lines_of_file, where)
    first = next(lines, (1, ""))
    header, lines = first[1], chain([first], lines)
    comma = ";" if header.count(";") > header.count(",") else ","
    tabs = path.suffix.lower() in TABBED or ("\t" in header and comma not in header)
    cells = _tabbed(lines) if tabs else _quoted(lines, comma, where)
    names = [name.strip() for name in next(cells, (1, []))[1]]
    if not any(names):
        raise FormatError("an empty file; its first line names the columns", where=where)
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"two columns are called {twice!r}", where=where, line=1)

    def rows() -> Rows:
        for line, row in cells:
            if not any(cell.strip() for cell in row):
                continue  # a blank line between others
            if len(row) != len(names):
                found = f"{len(row)} cell{'s' if len(row) > 1 else ''}, {len(names)} columns"
                raise FormatError(f"{found} ({', '.join(names)})", where=where, line=line)
            yield line, dict(zip(names, row, strict=True))

    return names, rows()


def _quoted(lines: Iterator[tuple[int, str]], comma: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV. A cell in quotes may span several lines; the row's number is that of the first."""
    csv.field_size_limit(_LONGEST)
    last = 0

    def counted() -> Iterator[str]:
        nonlocal last
        for last, line in lines:  # noqa: B007
            yield f"{line}\n"

    reader = csv.reader(counted(), delimiter=comma, strict=True)
    while True:
        start = last + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise FormatError(f"not CSV from here on ({error})", where=where, line=start) from None
        if row is None:
            return
        yield start, row


def _tabbed(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a tabbed file. Quotes mean something only around a whole cell."""
    for number, line in lines:
        row = line.split("\t")
        for column, cell in enumerate(row):
            if len(cell) > 1 and cell[0] == cell[-1] == '"':
                row[column] = cell[1:-1].replace('""', '"')
        yield number, row


class _Row(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""  # as an empty cell


def _json_rows(path: Path) -> Rows:
    for number, line in numbered(_utf8_lines(path), str(path)):
        if line.strip():
            value = parse_json(line, str(path), number)
            if not isinstance(value, dict):
                raise FormatError("not a JSON object; give one per line", where=str(path), line=number)
            row = _Row()
            for key, cell in value.items():
                row[key] = "" if cell is None else cell if isinstance(cell, str) else json.dumps(cell)
            yield number, row


def parse_json(line: str, where: str, number: int) -> Any:
    """Return the value of a line of JSON. Raise FormatError for anything else, NaN and infinity included."""

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is not a number in JSON")

    def finite(text: str) -> float:
        return value if math.isfinite(value := float(text)) else refuse(text)

    try:
        return json.loads(line, parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON ({error})", where=where, line=number) from None


def is_utf16(path: Path) -> bool:
    """Return whether a file begins with a byte order mark of UTF-16, as spreadsheets write it."""
    with path.open("rb") as file:
        return file.read(2) in (b"\xff\xfe", b"\xfe\xff")


def _utf8_lines(path: Path) -> Iterator[bytes]:
    if is_utf16(path):
        with path.open(encoding="utf-16", newline="\n") as text:
            yield from (line.encode() for line in text)
    else:
        with path.open("rb") as file:
            yield from file
