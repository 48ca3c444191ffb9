"""Score a file of texts into a file of results: streaming, in order, and resumable."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from bough.data.labelled import text_columns
from bough.data.tables import JSON_LINES, PARQUET, TABLES, Rows, read_rows
from bough.errors import FormatError
from bough.files import hold
from bough.formats.encoding import check_encoding, encoding_of
from bough.pipelines import AnyPipeline
from bough.pipelines.prediction import Prediction, to_json
from bough.pipelines.readers import GivenReader, Reader, groups

GIVEN = "given"  # the key for columns of the input whose names results use
_NEAR = 1e-2  # tolerance for the rounded probabilities of one text in two batches


class Record(NamedTuple):
    """A row to score: its line number, its text, texts or tree, and the columns that are kept beside its result.

    A tree in a nested object is built when it is scored. `columns` are the names of those of `texts`, for errors.
    """

    line: int
    texts: tuple[Any, ...]
    row: dict[str, Any]
    columns: tuple[str, ...] = ("text",)


def score_file(
    pipeline: AnyPipeline,
    source: Path | str,
    out: Path,
    *,
    text: Sequence[str] = (),
    resume: bool = False,
    brief: bool = False,
    encoding: str | None = None,
    callback: Callable[[int, int], None] = lambda lines, read: None,
) -> int:
    """Score each row of the file `source` into a line of JSON of the file `out`; return the number of rows.

    See `records_of` for the formats; the source `-` is standard input. With `resume` the results in
    `out` are checked against `source` and kept up to the last full batch, so that the file gets the
    same bytes as in an uninterrupted run. Raise a ValueError if they come from another model or
    parser, or if another process writes `out`. `encoding` is that of `source`. `callback` is called
    with the number of rows done and of bytes read.
    """
    if out.exists() and not out.is_file():
        raise ValueError(f"{out} is not a file; choose a file for the results")
    if out.exists() and str(source) != "-" and out.samefile(source):
        raise ValueError(f"{out} is the file to score; choose another file for the results")
    out.parent.mkdir(parents=True, exist_ok=True)
    with open_source(source) as stream, out.open("ab") as file:
        if not hold(file):
            raise ValueError(f"another process is writing {out}; wait for it, or choose another file")
        if file.tell() and not resume:
            raise ValueError(f"{out} is not empty; resume it, or choose another file for the results")
        done = 0
        if resume:
            done, end = _results_to_keep(
                pipeline, source, out, layout_of(pipeline, text, encoding=encoding), brief=brief
            )
            file.truncate(end)
        options: dict[str, Any] = {"text": text, "brief": brief, "encoding": encoding, "skip": done}
        for lines in scored_lines(pipeline, stream, str(source), **options):
            file.write(b"".join(lines))
            file.flush()
            done += len(lines)
            callback(done, stream.tell() if stream.seekable() else 0)
    return done


@contextmanager
def open_source(source: Path | str) -> Iterator[BinaryIO]:
    """Open a file to score; `-` is standard input. Raise a FormatError if there is no such file."""
    if str(source) == "-":
        yield sys.stdin.buffer
        return
    if not Path(source).exists() or Path(source).is_dir():
        raise FormatError("a folder" if Path(source).is_dir() else "no such file", where=str(source))
    with open(source, "rb") as stream:
        yield stream


def scored_lines(
    pipeline: AnyPipeline,
    stream: BinaryIO,
    name: str,
    *,
    text: Sequence[str],
    brief: bool,
    encoding: str | None = None,
    skip: int = 0,
) -> Iterator[list[bytes]]:
    """Yield the results of an open file after `skip` rows as lines of JSON, a batch at a time."""
    records = islice(records_of(stream, name, layout_of(pipeline, text, encoding=encoding)), skip, None)
    for group in groups(records, pipeline.batch_size):
        results = scored(pipeline, group, brief=brief, source=name)
        yield [to_json(result).encode() + b"\n" for result in results]


def _results_to_keep(
    pipeline: AnyPipeline, source: Path | str, out: Path, layout: Layout, *, brief: bool
) -> tuple[int, int]:
    """Return the number of results in `out` that are full batches, and the byte offset of their end.

    Raise a ValueError, and change nothing, if a line of `out`, even a partial one, is not the
    result of its row of `source`, or if this pipeline gives another last result.
    """
    count, ends, last = 0, [0], None
    key = pipeline.model.output.keys[-1]  # of the numbers or the probabilities
    first = dict([next(iter(no_result(pipeline, brief=brief).items()))])
    with open_source(source) as stream, out.open("rb") as results:
        records = records_of(stream, str(source), layout)
        for line in results:
            record = next(records, None)
            # a line begins with the columns of its row and the first key of a result
            begin = b"" if record is None else to_json(record.row | first).encode().removesuffix(b"null}")
            if record is None or line[: len(begin)] != begin[: len(line)]:
                reason = f"line {count + 1} of {out} is not about row {count + 1} of {source}"
                raise ValueError(
                    f"{reason}; resume with the same file, or choose another one for the results"
                )
            if not line.endswith(b"\n"):
                break
            count += 1
            if count % pipeline.batch_size == 0:
                ends.append(results.tell())
            if f'"{key}": {{'.encode() in line:
                last = record, line
    if last is not None:
        before, (now,) = json.loads(last[1]), scored(pipeline, [last[0]], brief=True, source=str(source))
        if not pipeline.pairs and ("nodes" in before) == brief:
            made = "with" if brief else "without"
            raise ValueError(f"{out} was made {made} phrases; resume it the same way")
        old, new = before[key], now[key]
        near = (abs(old[name] - new[name]) <= _NEAR * max(1, abs(new[name])) for name in new)
        if old.keys() != new.keys() or not all(near):
            raise ValueError(f"{out} was made with another model or parser; resume it the same way")
    return (len(ends) - 1) * pipeline.batch_size, ends[-1]


class Layout(NamedTuple):
    """Layout of the input of a model: whether it takes pairs, the columns of the texts, and the keys of results.

    `text` are the columns that a user names, `fitted` the columns of the training file, `taken` the
    names that results use. With `trees`, a cell may be a nested object. The file is
    decoded by `encoding`, else by its byte order mark, else as UTF-8.
    """

    pairs: bool
    text: tuple[str, ...]
    fitted: tuple[str, ...]
    taken: frozenset[str]
    trees: bool = False
    encoding: str | None = None


def layout_of(
    pipeline: AnyPipeline,
    text: Sequence[str] = (),
    *,
    own: Sequence[str] = (),
    encoding: str | None = None,
) -> Layout:
    """Return the layout of a pipeline's input; `own` are further keys of results."""
    taken = frozenset({GIVEN, *own, *no_result(pipeline, brief=False)})
    fitted = tuple(pipeline.facts.get("text_columns", ()))
    trees = isinstance(pipeline.reader, GivenReader)
    if "tree_columns" in pipeline.facts:
        fitted = (pipeline.facts["tree_columns"]["column"],)
    return Layout(pipeline.pairs, tuple(text), fitted, taken, trees, encoding)


def records_of(stream: BinaryIO, name: str, layout: Layout) -> Iterator[Record]:
    """Yield the record of each row of an open file.

    The suffix tells the format: CSV, TSV, JSON lines or Parquet; any other file has one text per
    line, or two texts separated by a tab. The texts are in the columns that a user names, else in
    those of the training file, else in those with a usual name. A column whose name results use is
    kept within `given`. The name `-` is standard input: JSON lines if the first line begins with a
    brace, a table if columns are named or if the first line names the columns of the training file,
    else plain text.
    """
    pairs, text, fitted, taken, trees, encoding = layout
    suffix = Path(name).suffix.lower()
    if name == "-":
        check_encoding(encoding)
        first = stream.readline()
        header = first.decode(encoding or encoding_of(first), "replace").lstrip("\ufeff").rstrip("\r\n")
        tabs = "\t" in header
        table = text or (fitted and {*fitted} <= {*header.split("\t" if tabs else ",")})
        suffix = (
            ".jsonl" if header.lstrip()[:1] == "{" else ".txt" if not table else ".tsv" if tabs else ".csv"
        )
        stream = chain([first] if first else [], stream)  # type: ignore[assignment]
    columns, rows = read_rows(stream, name, suffix, encoding)
    if pairs and suffix not in (*TABLES, *JSON_LINES, *PARQUET):
        rows, columns = _tabbed_pairs(rows, name), ["a", "b"]
    keys = fitted if fitted and not text and {*fitted} <= {*columns} else ()
    keys = keys or (text_columns(columns, text, name, pairs=pairs) if columns else ("text",))
    for line, row in rows:
        row = row or dict.fromkeys(keys, "")  # a blank line
        for key in keys:
            if row.get(key, "") is None:
                row[key] = ""
            value = row.get(key)
            if not isinstance(value, (str, dict) if trees else str):
                what = "an object or a string" if trees else "a string"
                raise FormatError(f'no "{key}" with {what}', where=name, line=line)
        texts = tuple(row[key] for key in keys)
        if clashing := {key: value for key, value in row.items() if key in taken}:
            row = {key: value for key, value in row.items() if key not in taken} | {GIVEN: clashing}
        yield Record(line, texts, row, tuple(keys))


def _tabbed_pairs(rows: Rows, name: str) -> Rows:
    for line, row in rows:
        texts = row["text"].split("\t") if row["text"].strip() else ["", ""]
        if len(texts) != 2:
            what = f"{len(texts)} column{'s' if len(texts) > 1 else ''}"
            raise FormatError(f"{what}; a pair is two texts separated by a tab", where=name, line=line)
        yield line, dict(zip("ab", texts, strict=True))


def no_result(pipeline: AnyPipeline, *, brief: bool) -> dict[str, Any]:
    """Return the result for a text without a word: all keys of a result, with empty values."""
    phrases: dict[str, Any] = {} if brief or pipeline.pairs else {"tokens": [], "nodes": [], "sentences": []}
    return dict.fromkeys(pipeline.model.output.keys) | phrases


def scored(
    pipeline: AnyPipeline, records: Sequence[Record], *, brief: bool, source: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield one dict per record: its columns and its result. `source` is the file of the records in errors."""
    nothing = no_result(pipeline, brief=brief)
    rows = [_with_trees(pipeline.reader, record, source) for record in records]
    items = rows if pipeline.pairs else [row[0] for row in rows]
    for record, result in zip(records, pipeline.stream(items, allow_empty=True), strict=True):
        options = {"phrases": not brief} if isinstance(result, Prediction) else {}
        found = nothing if result is None else result.as_dict(**options)
        yield record.row | {key: found[key] for key in nothing}


def _with_trees(reader: Reader, record: Record, source: str) -> tuple[Any, ...]:
    """Return the texts of a record, with a tree for each nested object."""
    if not isinstance(reader, GivenReader):
        return record.texts
    return tuple(
        reader.columns.tree(cell, source, record.line, column) if isinstance(cell, dict) else cell
        for column, cell in zip(record.columns, record.texts, strict=True)
    )
