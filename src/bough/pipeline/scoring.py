"""Files of texts to files of results: streaming, in order, and going on where a killed run stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from bough.errors import FormatError
from bough.formats.lines import numbered
from bough.pipeline.relatedness import RelatednessPipeline
from bough.pipeline.results import printable
from bough.pipeline.scorer import groups
from bough.pipeline.sentiment import SentimentPipeline

Pipeline = SentimentPipeline | RelatednessPipeline
Record = dict[str, Any]
JSON_LINES = (".jsonl", ".ndjson", ".json")
BLOCK = 1 << 20
NO_PAIR: Record = {"score": None, "probabilities": None}
NO_TEXT: Record = {"label": None, "score": None, "probabilities": None}
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
    already are left as they are; a last one that a kill has torn is done again. `tell` hears of the lines
    done and the bytes read.
    """
    if not resume and out.exists() and out.stat().st_size:
        raise ValueError(f"{out} is not empty; continue it with --resume, or choose another --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    done, last = finished(out) if out.exists() else (0, None)
    with source.open("rb") as stream, out.open("ab") as file:
        lines = Counted(stream)
        records = records_of(lines, source, pairs=isinstance(pipeline, RelatednessPipeline))
        _skip(records, done, last, source, out)
        for group in groups(records):
            file.write(_text(pipeline, group, brief))
            file.flush()
            done += len(group)
            tell(done, lines.bytes)
    return done


def print_scores(pipeline: Pipeline, source: Path, stream: BinaryIO, *, brief: bool = False) -> None:
    """The same onto a stream, a batch at a time."""
    with source.open("rb") as lines:
        records = records_of(lines, source, pairs=isinstance(pipeline, RelatednessPipeline))
        for group in groups(records):
            stream.write(_text(pipeline, group, brief))
            stream.flush()


def records_of(lines: Iterable[bytes], source: Path, *, pairs: bool) -> Iterator[Record]:
    """What each line asks for: an object with `text`, or with `a` and `b` where pairs are wanted.

    A file named `.jsonl`, `.ndjson` or `.json` has such an object a line, and may have other keys in it,
    which come out again; any other file has a text a line, for pairs two with a tab between.
    """
    keys = ("a", "b") if pairs else ("text",)
    for number, line in numbered(lines, str(source)):
        record: Any
        if source.suffix.lower() in JSON_LINES:
            try:
                record = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise FormatError(f"no JSON ({error})", where=str(source), line=number) from None
        else:
            record = dict(zip(keys, line.split("\t") if pairs else [line], strict=False))
        for key in keys:
            if not isinstance(record, dict) or not isinstance(record.get(key), str):
                wanted = " and ".join(map(repr, keys))
                raise FormatError(f"no text for {key!r}; a line has {wanted}", where=str(source), line=number)
        yield record


def scored(pipeline: Pipeline, records: list[Record], *, brief: bool) -> list[str]:
    """A line of JSON for each record."""
    if isinstance(pipeline, RelatednessPipeline):
        cut = pipeline.reader.cut([record[side] for record in records for side in ("a", "b")])
        full = [place for place in range(len(records)) if cut[2 * place] and cut[2 * place + 1]]
        pairs = pipeline.compare_all([(records[place]["a"], records[place]["b"]) for place in full])
        found = {place: pair.as_dict() for place, pair in zip(full, pairs, strict=True)}
        results = [found.get(place, NO_PAIR) for place in range(len(records))]
    else:
        empty = NO_TEXT if brief else {**NO_TEXT, **NO_PHRASES}
        scores = pipeline.stream_any(record["text"] for record in records)
        results = [empty if score is None else score.as_dict(phrases=not brief) for score in scores]
    return [_line({**record, **result}) for record, result in zip(records, results, strict=True)]


def _text(pipeline: Pipeline, records: list[Record], brief: bool) -> bytes:
    return "".join(f"{line}\n" for line in scored(pipeline, records, brief=brief)).encode()


def _line(record: Record) -> str:
    return printable(json.dumps(record, ensure_ascii=False))


def finished(out: Path) -> tuple[int, str | None]:
    """How many whole lines a file of results has, and the last of them; a torn one after it is cut off."""
    count = end = last = 0  # whole lines; where the last one ends; where it starts
    with out.open("rb+") as file:
        place = 0
        while block := file.read(BLOCK):
            breaks = block.count(b"\n")
            if breaks:
                count += breaks
                before = block.rfind(b"\n", 0, block.rfind(b"\n"))
                last = place + before + 1 if before >= 0 else end
                end = place + block.rfind(b"\n") + 1
            place += len(block)
        file.truncate(end)
        if not count:
            return 0, None
        file.seek(last)
        return count, file.read(end - last).decode("utf-8", "replace")


def _skip(records: Iterator[Record], done: int, last: str | None, source: Path, out: Path) -> None:
    """Pass over what is done, and make sure that it was done for this very file."""
    if not done or last is None:
        return
    before = list(islice(records, done - 1, done))
    try:
        result = json.loads(last)
        same = bool(before) and all(
            result.get(key) == printable(before[0][key]) for key in ("text", "a", "b") if key in before[0]
        )
    except (json.JSONDecodeError, AttributeError):
        same = False
    if not same:
        raise ValueError(
            f"line {done} of {out} is not about line {done} of {source}; resume with the same file"
        )


class Counted:
    """The lines of a stream, and how many bytes of it were read."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self.stream, self.bytes = stream, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self.stream:
            self.bytes += len(line)
            yield line
