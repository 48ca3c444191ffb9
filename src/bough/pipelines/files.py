"""Files of texts to files of results: streaming, in order, and going on where a killed run stopped."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from bough.errors import FormatError
from bough.files import hold
from bough.formats.escapes import printable
from bough.formats.lines import numbered
from bough.pipelines.json_text import encoded
from bough.pipelines.reading import groups
from bough.pipelines.relatedness import RelatednessPipeline
from bough.pipelines.results import Sentiment
from bough.pipelines.sentiment import SentimentPipeline

Pipeline = SentimentPipeline | RelatednessPipeline
Record = dict[str, Any]
JSON_LINES = (".jsonl", ".ndjson", ".json")
GIVEN = "given"  # holds the input's keys that a result has too
NO_PAIR: Record = {"score": None, "probabilities": None}
NO_TEXT: Record = {"label": None, "polarity": None, "score": None, "probabilities": None}
_NEAR = 1e-2  # between results of one text in two batches, rounded
NO_PHRASES: Record = {"tokens": [], "nodes": [], "sentences": []}


def score_file(
    pipeline: Pipeline,
    source: Path,
    out: Path,
    *,
    resume: bool = False,
    brief: bool = False,
    tell: Callable[[int, int], None] = lambda lines, read: None,
) -> int:
    """Score each line of the file `source` into a line of JSON of the file `out`; the number of lines.

    Line n out is line n in; see `records_of` for what a line holds. With `resume` the lines that `out` has
    already are held against the file and left as they are; a last one that a kill has torn is done again. A model or
    parser that gives the last whole one another result is a ValueError, and so is an `out` that another process is
    writing.
    `tell` hears of the lines done and the bytes read.
    """
    _check(source, out)
    out.parent.mkdir(parents=True, exist_ok=True)
    pairs = isinstance(pipeline, RelatednessPipeline)
    with source.open("rb") as stream, out.open("ab") as file:
        if not hold(file):
            raise ValueError(f"another `bough score` is writing {out}; wait for it, or choose another --out")
        if file.tell() and not resume:
            raise ValueError(f"{out} is not empty; continue it with --resume, or choose another --out")
        lines = Counted(stream)
        records = records_of(lines, source, pairs=pairs)
        done, end, records, last = _done(records, out, source, pairs=pairs, brief=brief)
        _check_model(pipeline, last, out)
        file.truncate(end)
        for group in groups(records):
            file.write(_text(pipeline, group, brief))
            file.flush()
            done += len(group)
            tell(done, lines.bytes)
    return done


def _check(source: Path, out: Path) -> None:
    """Nothing is written to but a file, and never the one that is read."""
    if not out.exists():
        return
    if not out.is_file():
        raise ValueError(f"{out} is not a file; choose another --out, or leave it out to print")
    if out.samefile(source):
        raise ValueError(f"{out} is the file to be scored; choose another --out")


def print_scores(pipeline: Pipeline, source: Path, stream: BinaryIO, *, brief: bool = False) -> None:
    """The same onto a stream, a batch at a time."""
    with source.open("rb") as lines:
        records = records_of(lines, source, pairs=isinstance(pipeline, RelatednessPipeline))
        for group in groups(records):
            stream.write(_text(pipeline, group, brief))
            stream.flush()


def records_of(
    lines: Iterable[bytes], source: Path, *, pairs: bool, first: int = 1, own: Collection[str] = ()
) -> Iterator[Record]:
    """What each line asks for: an object with `text`, or with `a` and `b` where pairs are wanted.

    A file named `.jsonl`, `.ndjson` or `.json` has such an object a line, and may have other keys in it,
    which come out again, within `given` if results have such a key; any other file has a text a line, for
    pairs two with a tab between. A blank line asks for nothing. The lines are those from number `first` on;
    `own` are more keys that results have.
    """
    keys = ("a", "b") if pairs else ("text",)
    for number, line in numbered(lines, str(source), first):
        record: Any
        if not line.strip():
            record = dict.fromkeys(keys, "") if pairs else {"text": line}
        elif source.suffix.lower() in JSON_LINES:
            try:
                record = json.loads(line, parse_constant=_refused, parse_float=_finite)
            except (ValueError, RecursionError) as error:
                raise FormatError(f"not JSON ({error})", where=str(source), line=number) from None
        else:
            texts = line.split("\t") if pairs else [line]
            if len(texts) > len(keys):
                raise FormatError(
                    f"{len(texts)} columns; a pair is two, with a tab between", where=str(source), line=number
                )
            record = dict(zip(keys, texts, strict=False))
        yield checked_record(record, str(source), number, pairs=pairs, own=own)


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refused(text)


def checked_record(
    record: Any, source: str, number: int, *, pairs: bool, own: Collection[str] = ()
) -> Record:
    """The record, if it has its texts; keys that results have too go within `given`."""
    keys = ("a", "b") if pairs else ("text",)
    for key in keys:
        if not isinstance(record, dict) or not isinstance(record.get(key), str):
            wanted = " and ".join(map(repr, keys))
            raise FormatError(f"no text for {key!r}; a line has {wanted}", where=source, line=number)
    taken = {GIVEN, *own, *(NO_PAIR if pairs else NO_TEXT | NO_PHRASES)}
    if clashing := {key: value for key, value in record.items() if key in taken}:
        record = {key: value for key, value in record.items() if key not in taken} | {GIVEN: clashing}
    return record  # type: ignore[no-any-return]


def scored(pipeline: Pipeline, records: list[Record], *, brief: bool) -> list[str]:
    """A line of JSON for each record."""
    if isinstance(pipeline, RelatednessPipeline):
        pairs = pipeline.stream_any((record["a"], record["b"]) for record in records)
        results = [(NO_PAIR, "") if pair is None else (pair.as_dict(), "") for pair in pairs]
    else:
        scores = pipeline.stream_any(record["text"] for record in records)
        results = [_of_text(score, brief) for score in scores]
    return [
        _line({**record, **whole}, phrases) for record, (whole, phrases) in zip(records, results, strict=True)
    ]


def _of_text(score: Sentiment | None, brief: bool) -> tuple[Record, str]:
    """What is said of a whole text, and, as JSON, of its phrases."""
    if score is None:
        return NO_TEXT, "" if brief else encoded(NO_PHRASES)[1:-1]
    return score.as_dict(phrases=False), "" if brief else score.phrases_json()


def _text(pipeline: Pipeline, records: list[Record], brief: bool) -> bytes:
    return "".join(f"{line}\n" for line in scored(pipeline, records, brief=brief)).encode()


def _line(record: Record, more: str = "") -> str:
    line = encoded(record)
    return printable(f"{line[:-1]}, {more}}}" if more else line)


def _done(
    records: Iterator[Record], out: Path, source: Path, *, pairs: bool, brief: bool
) -> tuple[int, int, Iterator[Record], tuple[Record, bytes] | None]:
    """How many whole lines `out` has, where they end, the records that are left, and the last one that has a result.

    Nothing is changed; a ValueError if a line, or what a kill left of one, is not the result of its record.
    """
    done = end = 0
    last = None
    with out.open("rb") as file:
        for line in file:
            record = next(records, None)
            start = b"" if record is None else _line(record)[:-1].encode()
            whole = line.endswith(b"\n")
            begin = start + (b', "score": ' if pairs else b', "label": ')
            if record is None or not line.startswith(begin if whole else begin[: len(line)]):
                raise ValueError(
                    f"line {done + 1} of {out} is not about line {done + 1} of {source}; "
                    "resume with the same file, or choose another --out"
                )
            if not whole:
                records = chain([record], records)
                break
            if not pairs and (b', "nodes": [' in line[len(start) :]) == brief:
                raise ValueError(
                    f"{out} was made {'without' if brief else 'with'} --brief; resume it the same way"
                )
            done, end = done + 1, end + len(line)
            if not line.startswith(begin + b"null"):
                last = record, line
    return done, end, records, last


def _check_model(pipeline: Pipeline, last: tuple[Record, bytes] | None, out: Path) -> None:
    """A ValueError if the pipeline does not say what `out` has of a record."""
    if last is None:
        return
    record, line = last
    before, now = (
        json.loads(text)["probabilities"] for text in (line, scored(pipeline, [record], brief=True)[0])
    )
    if len(before) != len(now) or any(abs(a - b) > _NEAR for a, b in zip(before, now, strict=True)):
        raise ValueError(f"{out} was made with another model or parser; resume it the same way")


class Counted:
    """The lines of a stream, and how many of them and of its bytes were read."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self.stream, self.bytes, self.lines = stream, 0, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self.stream:
            self.bytes += len(line)
            self.lines += 1
            yield line
