"""Tables as people have them: CSV with either comma, tabs, JSON lines; rows by name, one at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bough.errors import FormatError
from bough.formats.lines import numbered

JSON_LINES = (".jsonl", ".ndjson", ".json")
_LONGEST = 10_000_000  # characters of a cell
Cells = Iterator[tuple[int, dict[str, str]]]
Lines = Callable[[], Iterator[bytes]]


def read_table(path: Path, lines_of: Lines | None = None) -> tuple[list[str], Cells]:
    """The names of a table's columns, and its rows by line number, a row at a time.

    `lines_of` gives the lines in place of the file's own, those of the header first.
    """
    lines_of = lines_of or (lambda: _text_lines(path))
    if path.suffix.lower() in JSON_LINES:
        return _objects(path, lines_of)
    return table_of(lines_of(), path)


def rows_with(path: Path, wanted: Iterable[str]) -> Iterator[dict[str, str]]:
    """The rows of a published CSV file, which has at least these columns."""
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        for name in wanted:
            if name not in (table.fieldnames or ()):
                raise FormatError(f"no column {name!r}", where=str(path), line=1)
        yield from table


def table_of(lines_of_file: Iterable[bytes], path: Path) -> tuple[list[str], Cells]:
    """The same for the lines of a CSV or tabbed file; no line is read before the row that needs it."""
    suffix = path.suffix.lower()
    lines = numbered(lines_of_file, str(path))
    number, header = next(lines, (1, ""))
    comma = ";" if header.count(";") > header.count(",") else ","
    tabs = suffix in (".tsv", ".tab", ".txt") or ("\t" in header and comma not in header)
    rows = _tabbed(number, header, lines) if tabs else _quoted(number, header, lines, comma, path)
    names = [name.strip() for name in next(rows, (1, []))[1]]
    if not any(names):
        raise FormatError("an empty file; its first line names the columns", where=str(path))
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"two columns are called {twice!r}", where=str(path), line=1)
    return names, _named(rows, names, path)


def _named(rows: Iterator[tuple[int, list[str]]], names: list[str], path: Path) -> Cells:
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue  # a blank line between others
        if len(row) != len(names):
            cells = f"{len(row)} cell{'s' if len(row) > 1 else ''}, {len(names)} columns"
            raise FormatError(f"{cells} ({', '.join(names)})", where=str(path), line=line)
        yield line, dict(zip(names, row, strict=True))


def _quoted(
    number: int, header: str, lines: Iterator[tuple[int, str]], comma: str, path: Path
) -> Iterator[tuple[int, list[str]]]:
    """CSV; a cell in quotes may span several lines; the row's line number is that of the first."""
    csv.field_size_limit(_LONGEST)
    last = number

    def ended() -> Iterator[str]:
        nonlocal last
        yield f"{header}\n"
        for last, line in lines:  # noqa: B007
            yield f"{line}\n"

    start = number
    reader = csv.reader(ended(), delimiter=comma, strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise FormatError(f"not CSV from here on ({error})", where=str(path), line=start) from None
        if row is None:
            return
        yield start, row
        start = last + 1


def _tabbed(number: int, header: str, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Tabs between, and quotes that mean nothing unless they are around the whole cell."""
    yield number, [_unquoted(cell) for cell in header.split("\t")]
    for line, row in lines:
        yield line, [_unquoted(cell) for cell in row.split("\t")]


def _unquoted(cell: str) -> str:
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _objects(path: Path, lines_of: Lines) -> tuple[list[str], Cells]:
    """JSON lines; the first object's keys are the columns."""

    def rows() -> Cells:
        for number, line in numbered(lines_of(), str(path)):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise FormatError(f"not JSON ({error})", where=str(path), line=number) from None
            if not isinstance(value, dict):
                raise FormatError("not a JSON object; give one per line", where=str(path), line=number)
            yield number, _Filled({str(key): _as_text(cell) for key, cell in value.items()})

    first = next(rows(), None)
    if first is None:
        raise FormatError("an empty file", where=str(path))
    return list(first[1]), rows()


class _Filled(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""  # as an empty cell


def _as_text(cell: Any) -> str:
    return "" if cell is None else cell if isinstance(cell, str) else json.dumps(cell)


def is_utf16(path: Path) -> bool:
    """Whether a file has a spreadsheet's mark of UTF-16."""
    with path.open("rb") as file:
        return file.read(2) in (b"\xff\xfe", b"\xfe\xff")


def _text_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as UTF-8; a spreadsheet's UTF-16, told by its mark, is made so."""
    with path.open("rb") as file:
        if is_utf16(path):
            with path.open(encoding="utf-16", newline="\n") as text:
                yield from (line.encode() for line in text)
            return
        yield from file
