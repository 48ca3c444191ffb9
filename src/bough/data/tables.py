"""Read tables one row at a time: CSV with commas or semicolons, TSV, JSON lines, Parquet."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from bough.errors import FormatError
from bough.formats.lines import numbered, parse_json

JSON_LINES = (".jsonl", ".ndjson", ".json")
TABBED = (".tsv", ".tab", ".txt")
TABLES = (".csv", ".tsv", ".tab")
PARQUET = (".parquet", ".pq")
_LONGEST = 10_000_000  # characters of a cell
Rows = Iterator[tuple[int, dict[str, Any]]]


def read_table(path: Path, encoding: str | None = None) -> tuple[list[str], Rows]:
    """Return the names of a table's columns, and its rows with their line numbers.

    A .txt file is read as TSV. The columns of JSON lines are the keys of the first object. A
    missing or null cell is an empty string; other cells of JSON lines and of Parquet keep their
    types. Without `encoding`, a file is decoded by its byte order mark, else as UTF-8. Raise a
    FormatError for an empty file.
    """
    suffix = path.suffix.lower()
    suffix = suffix if suffix in (*JSON_LINES, *PARQUET) else ".csv"
    columns, rows = read_rows(path, str(path), suffix, encoding)
    if not columns:
        raise FormatError("an empty file", where=str(path))

    def filled() -> Rows:
        for line, row in rows:
            if row:  # a blank line of JSON lines is an empty row
                cells = ((key, "" if cell is None else cell) for key, cell in row.items())
                yield line, defaultdict(str, cells)

    return columns, filled()


def read_rows(
    source: BinaryIO | Path, name: str, suffix: str, encoding: str | None = None
) -> tuple[list[str], Rows]:
    """Return the names of the columns of a file, and its rows with their line numbers.

    The format is that of `suffix`; `name` is the file in errors. The cells of CSV and TSV are
    strings, those of JSON lines and Parquet any JSON value. The columns of JSON lines are the keys
    of the first object, and a blank line is an empty row. A file of another format has one column,
    `text`, and a row for every line.
    """
    if suffix in PARQUET:
        return _parquet_rows(source, name)
    lines = numbered(source, name, encoding=encoding)
    if suffix in TABLES:
        return _table_rows(lines, Path(name))
    if suffix in JSON_LINES:
        return _json_rows(lines, name)
    return ["text"], ((number, {"text": line}) for number, line in lines)


def rows_with(path: Path, wanted: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file. Raise a FormatError if one of the wanted columns is missing."""
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        for name in wanted:
            if name not in (table.fieldnames or ()):
                raise FormatError(f"no column {name!r}", where=str(path), line=1)
        yield from table


def _table_rows(lines: Iterator[tuple[int, str]], path: Path) -> tuple[list[str], Rows]:
    """Return the columns and rows of CSV or TSV; the suffix and the first line tell which it is."""
    where = str(path)
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
    """Yield the rows of CSV, each with its first line; a quoted cell may span several lines."""
    csv.field_size_limit(_LONGEST)
    reader = csv.reader((f"{line}\n" for _, line in lines), delimiter=comma, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise FormatError(f"not CSV from here on ({error})", where=where, line=start) from None
        if row is None:
            return
        yield start, row


def _tabbed(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of TSV. Quotes are removed only if they enclose a whole cell."""
    for number, line in lines:
        row = line.split("\t")
        for column, cell in enumerate(row):
            if len(cell) > 1 and cell[0] == cell[-1] == '"':
                row[column] = cell[1:-1].replace('""', '"')
        yield number, row


def _json_rows(lines: Iterator[tuple[int, str]], where: str) -> tuple[list[str], Rows]:
    def rows() -> Rows:
        for number, line in lines:
            row = parse_json(line, where, number) if line.strip() else {}
            if not isinstance(row, dict):
                raise FormatError("not a JSON object; give one per line", where=where, line=number)
            yield number, row

    first, rest = list[tuple[int, dict[str, Any]]](), rows()
    for numbered_row in rest:
        first.append(numbered_row)
        if numbered_row[1]:
            return list(numbered_row[1]), chain(first, rest)
    return [], iter(first)


def _parquet_rows(source: BinaryIO | Path, where: str) -> tuple[list[str], Rows]:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ValueError(f'{where}: Parquet needs pyarrow; pip install "bough[parquet]"') from None
    try:
        file = ParquetFile(source)
    except (ArrowInvalid, OSError) as error:
        raise FormatError(f"not Parquet ({' '.join(str(error).split())[:120]})", where=where) from None
    rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
    plain = ({key: _plain(cell) for key, cell in row.items()} for row in rows)
    return list(file.schema_arrow.names), enumerate(plain, 1)


def _plain(value: Any) -> Any:
    """Return a cell as a JSON value: bytes as text, NaN and infinity as null, dates as strings."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")  # undecodable bytes, such as an image, are no error
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else str(value)
