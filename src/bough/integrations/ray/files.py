"""Find the files that a job reads, here or at a URI, and cut them into parts of so many rows.

The same files give the same parts. A part starts where a batch of `bough score` starts, so that its rows are scored in
the same batches and come out the same to the last digit.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from bough.data.tables import table_of
from bough.errors import FormatError
from bough.files import is_torn, replacing
from bough.pipelines.files import Record, checked_record, records_of
from bough.pipelines.readers import AT_ONCE

ROWS = 4 * AT_ONCE  # rows of a part: some seconds of work, which is what a killed worker costs
TABLES = (".csv", ".tsv", ".tab")
PARQUET = (".parquet", ".pq")
IDS = ("file", "line")  # where the text of a result is; in Parquet `line` is the row, from 1


def filesystem(place: str) -> tuple[Any, str]:
    """Return the pyarrow filesystem of a path or URI, and the path within it."""
    from pyarrow import ArrowInvalid, fs

    if "://" not in place:
        return fs.LocalFileSystem(), os.path.abspath(place)
    try:
        try:
            system, path = fs.FileSystem.from_uri(place)
        except ArrowInvalid:  # a scheme that only fsspec knows
            import fsspec

            system, path = fsspec.core.url_to_fs(place)
            system = fs.PyFileSystem(fs.FSSpecHandler(system))
    except (ImportError, ValueError, OSError) as error:
        raise ValueError(f"{place}: {' '.join(str(error).split())[:200]}") from None
    return system, path


@dataclass(frozen=True)
class File:
    """A file to read: its name in results, the source that names its filesystem, its path there, size and mtime."""

    name: str
    source: str
    path: str
    size: int
    changed: int


def find(source: str) -> list[File]:
    """Return the files of a path, a folder or a glob, sorted by name; raise a FormatError if there are none."""
    from pyarrow import fs

    system, path = filesystem(source)
    wild = re.search(r"[*?]", path)
    root = path[: wild.start()].rpartition("/")[0] if wild else path
    found = [system.get_file_info(root or "/")]
    if found[0].type == fs.FileType.Directory:
        found = system.get_file_info(fs.FileSelector(root or "/", recursive=True))
    steps = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/?|\*|\?)", path) if wild else [path]
    wanted = "".join(steps.get(part) or re.escape(part) for part in parts) + ("" if wild else "(/.*)?")
    scheme, host = urlsplit(source)[:2]
    files = []
    for info in found:
        hidden = re.search(r"(^|/)[._]", info.path[len(root) :])
        if info.type != fs.FileType.File or hidden or not re.fullmatch(wanted, info.path, re.DOTALL):
            continue
        if "://" in source:
            name = f"{scheme}://{host if info.path.startswith('/') else ''}{info.path}"
        else:
            name = info.path if os.path.isabs(source) else os.path.relpath(info.path)
        files.append(File(name, source, info.path, info.size, info.mtime_ns or 0))
    if not files:
        raise FormatError("there is no such file", where=source)
    return sorted(files, key=lambda file: file.name)


def write(folder: str, name: str, content: bytes) -> None:
    """Write a file whole or not at all: locally by a rename; an object store shows only complete objects."""
    from pyarrow import fs

    system, path = filesystem(folder)
    if isinstance(system, fs.LocalFileSystem):
        with replacing(Path(path, name)) as temporary:
            temporary.write_bytes(content)
        return
    with system.open_output_stream(f"{path.rstrip('/')}/{name}") as stream:
        stream.write(content)


def names_in(folder: str) -> set[str]:
    """Return the names in a folder that may not exist yet, without partial files that a kill left."""
    from pyarrow import fs

    system, path = filesystem(folder)
    found = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
    return {info.base_name for info in found if not is_torn(info.base_name)}


@dataclass(frozen=True)
class Part:
    """Rows of one file: the bytes `start` to `end` from line `line` on, after the `header` of a table.

    In Parquet: the rows `start` to `end` of the row group `header`, whose first is row `line` of the file.
    """

    file: File
    start: int
    end: int
    line: int
    rows: int
    header: int = 0
    header_lines: int = 0


def cut(file: File, rows: int = ROWS) -> list[Part]:
    """Return the parts of a file."""
    parts: list[Part] = []
    kind = PurePosixPath(file.name).suffix.lower()
    if kind in PARQUET:
        metadata = _parquet(file).metadata
        line = 1
        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).num_rows
            for start in range(0, size, rows):
                end = min(start + rows, size)
                parts.append(Part(file, start, end, line + start, end - start, group))
            line += size
        return parts
    system, path = filesystem(file.source)[0], file.path
    with io.BufferedReader(system.open_input_file(path), 1 << 20) as stream:
        lines = _Counted(stream)
        found = table_of(lines, Path(file.name))[1] if kind in TABLES else lines
        header, header_lines = lines.bytes, lines.lines
        start, line, count = lines.bytes, lines.lines + 1, 0
        for _ in found:
            count += 1
            if count == rows:
                parts.append(Part(file, start, lines.bytes, line, count, header, header_lines))
                start, line, count = lines.bytes, lines.lines + 1, 0
        if count:
            parts.append(Part(file, start, lines.bytes, line, count, header, header_lines))
    return parts


class _Counted:
    """The lines of a stream, with the number of lines and bytes that were read."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.bytes, self.lines = stream, 0, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self.stream:
            self.bytes += len(line)
            self.lines += 1
            yield line


def records(part: Part, *, pairs: bool) -> Iterator[Record]:
    """Yield the record of each row of a part, with its file and line in front."""
    name = Path(part.file.name)
    kind = name.suffix.lower()
    if kind in PARQUET:
        table = _parquet(part.file).read_row_group(part.header).slice(part.start, part.rows)
        rows = list(enumerate(table.to_pylist(), part.line))
    else:
        with filesystem(part.file.source)[0].open_input_file(part.file.path) as stream:
            header, body = stream.read_at(part.header, 0), stream.read_at(part.end - part.start, part.start)
        if kind not in TABLES:
            found = records_of(io.BytesIO(body), name, pairs=pairs, first=part.line, own=IDS)
            yield from ({"file": part.file.name, "line": n, **one} for n, one in enumerate(found, part.line))
            return
        before = part.line - part.header_lines - 1  # lines of the file between the header and the part
        try:
            cells = table_of(io.BytesIO(header + body), name)[1]
            rows = [(number + before, dict(row)) for number, row in cells]
        except FormatError as error:
            line = error.line + before if error.line and error.line > part.header_lines else error.line
            raise FormatError(error.reason, where=part.file.name, line=line) from None
    for number, row in rows:
        for key in ("a", "b") if pairs else ("text",):
            try:
                row[key] = row[key].decode() if isinstance(row.get(key), bytes) else row[key] or ""
            except KeyError:
                continue  # reported below
            except UnicodeDecodeError as error:
                reason = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
                raise FormatError(reason, where=part.file.name, line=number) from None
        record = checked_record(_plain(row), part.file.name, number, pairs=pairs, own=IDS)
        yield {"file": part.file.name, "line": number, **record}


def _plain(value: Any) -> Any:
    """Return what JSON can say of a cell: text for bytes, null for NaN and infinity, a string for a date."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")  # a picture, say, is no reason not to score the text
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else str(value)


def _parquet(file: File) -> Any:
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(filesystem(file.source)[0].open_input_file(file.path))
    except (ArrowInvalid, OSError) as error:
        raise FormatError(f"not Parquet ({' '.join(str(error).split())[:120]})", where=file.name) from None
