"""Files cut into parts of so many rows, by one look at each; the same files give the same parts, whoever looks.

A part starts where a batch of `bough score` starts, so that its rows are scored in the same company, and come out
the same to the last digit.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from bough.data.tables import table_of
from bough.errors import FormatError
from bough.integrations.ray.filesystem import File, split, suffix
from bough.pipelines.files import Counted, Record, checked_record, records_of
from bough.pipelines.reading import AT_ONCE

ROWS = 4 * AT_ONCE  # of a part: some seconds of work, which is what a killed worker costs
TABLES = (".csv", ".tsv", ".tab")
PARQUET = (".parquet", ".pq")
IDS = ("file", "line")  # where a result's text stands; of Parquet the row, from 1
BUFFER = 1 << 20


@dataclass(frozen=True)
class Part:
    """Rows of one file: the bytes from `start` to `end`, of Parquet the rows; `line` is where they start.

    The rows of a table need its header: its bytes, and how many lines they are.
    """

    file: str
    place: str
    start: int
    end: int
    line: int
    rows: int
    header: int = 0
    header_lines: int = 0


def cut(file: File, rows: int = ROWS) -> list[Part]:
    """The parts of a file."""
    kind = suffix(file.name)
    if kind in PARQUET:
        return list(_cut_parquet(file, rows))
    with _opened(file.place) as stream:
        return list(_cut_table(file, stream, rows) if kind in TABLES else _cut_lines(file, stream, rows))


def _cut_lines(file: File, stream: BinaryIO, rows: int) -> Iterator[Part]:
    start = end = number = 0
    first = 1
    for line in stream:
        end, number = end + len(line), number + 1
        if number - first + 1 == rows:
            yield Part(file.name, file.place, start, end, first, rows)
            start, first = end, number + 1
    if end > start:
        yield Part(file.name, file.place, start, end, first, number - first + 1)


def _cut_table(file: File, stream: BinaryIO, rows: int) -> Iterator[Part]:
    lines = Counted(stream)
    cells = table_of(lines, Path(file.name))[1]
    header = start = lines.bytes
    header_lines = lines.lines
    count, first = 0, header_lines + 1
    for _ in cells:
        count += 1
        if count == rows:
            yield Part(file.name, file.place, start, lines.bytes, first, count, header, header_lines)
            start, count, first = lines.bytes, 0, lines.lines + 1
    if count:
        yield Part(file.name, file.place, start, lines.bytes, first, count, header, header_lines)


def _cut_parquet(file: File, rows: int) -> Iterator[Part]:
    total = _parquet(file.place, file.name).metadata.num_rows
    for start in range(0, total, rows):
        end = min(start + rows, total)
        yield Part(file.name, file.place, start, end, start + 1, end - start)


def records(part: Part, *, pairs: bool) -> Iterator[Record]:
    """What each row of a part asks for, with its file and line in front."""
    kind = suffix(part.file)
    if kind in PARQUET:
        rows = _parquet_rows(part, pairs)
    elif kind in TABLES:
        rows = _table_rows(part, pairs)
    else:
        lines = io.BytesIO(_bytes(part.place, part.start, part.end))
        found = records_of(lines, Path(part.file), pairs=pairs, first=part.line, own=IDS)
        rows = enumerate(found, part.line)
    for number, record in rows:
        yield {"file": part.file, "line": number, **record}


def _table_rows(part: Part, pairs: bool) -> Iterator[tuple[int, Record]]:
    header = io.BytesIO(_bytes(part.place, 0, part.header))
    body = io.BytesIO(_bytes(part.place, part.start, part.end))
    before = part.line - part.header_lines - 1
    try:
        for number, cells in table_of(chain(header, body), Path(part.file))[1]:
            line = number + before
            yield line, checked_record(dict(cells), part.file, line, pairs=pairs, own=IDS)
    except FormatError as error:
        if error.line is None or error.line <= part.header_lines:
            raise
        raise FormatError(error.reason, where=part.file, line=error.line + before) from None


def _parquet_rows(part: Part, pairs: bool) -> Iterator[tuple[int, Record]]:
    file = _parquet(part.place, part.file)
    low = 0
    groups: list[int] = []
    skip = part.start
    for group in range(file.metadata.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        if low + size > part.start and low < part.end:
            skip = part.start - low if not groups else skip
            groups.append(group)
        low += size
    number = part.start - skip
    texts = ("a", "b") if pairs else ("text",)
    for batch in file.iter_batches(batch_size=ROWS, row_groups=groups):
        keep = batch.slice(max(0, part.start - number), max(0, part.end - max(number, part.start)))
        first = max(number, part.start) + 1
        for line, row in enumerate(keep.to_pylist(), first):
            for key in texts:
                if isinstance(row.get(key), bytes):
                    row[key] = _decoded(row[key], part.file, line)
            plain = {key: _plain(value) for key, value in row.items()}
            for key in texts:
                if key in plain and plain[key] is None:
                    plain[key] = ""
            yield line, checked_record(plain, part.file, line, pairs=pairs, own=IDS)
        number += batch.num_rows
        if number >= part.end:
            return


def _decoded(text: bytes, name: str, line: int) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"byte 0x{text[error.start]:02x} is not UTF-8", where=name, line=line) from None


def _plain(value: Any) -> Any:
    """What JSON can say of a cell: of bytes their text, of NaN and infinity null, of a date and its like a string."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")  # a picture, say, is no reason not to score the text
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value)


def _parquet(place: str, name: str) -> Any:
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import ParquetFile

    system, path = split(place)
    try:
        return ParquetFile(system.open_input_file(path))
    except (ArrowInvalid, OSError) as error:
        raise FormatError(f"no Parquet ({' '.join(str(error).split())[:120]})", where=name) from None


def _opened(place: str) -> BinaryIO:
    system, path = split(place)
    return io.BufferedReader(system.open_input_file(path), BUFFER)


def _bytes(place: str, start: int, end: int) -> bytes:
    system, path = split(place)
    with system.open_input_file(path) as file:
        content: bytes = file.read_at(end - start, start)
    if len(content) != end - start:
        raise ValueError(f"{place} has changed since the run began; choose another --out")
    return content
