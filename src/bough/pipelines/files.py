"""Score a file of texts into a file of results: streaming, in order, and resumable after a kill."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from bough.data.tables import JSON_LINES, parse_json
from bough.errors import FormatError
from bough.files import hold
from bough.formats.escapes import printable
from bough.formats.lines import numbered
from bough.pipelines.readers import AT_ONCE, groups
from bough.pipelines.relatedness import RelatednessPipeline
from bough.pipelines.results import to_json
from bough.pipelines.sentiment import SentimentPipeline

Pipeline = SentimentPipeline | RelatednessPipeline
Record = dict[str, Any]
GIVEN = "given"  # holds the input's keys that a result has too
NO_PAIR: Record = {"score": None, "probabilities": None}
NO_TEXT: Record = {"label": None, "polarity": None, "score": None, "probabilities": None}
NO_PHRASES: Record = {"tokens": [], "nodes": [], "sentences": []}
_NEAR = 1e-2  # how far the rounded probabilities of one text may differ between two batches


def score_file(
    pipeline: Pipeline,
    source: Path,
    out: Path,
    *,
    resume: bool = False,
    brief: bool = False,
    callback: Callable[[int, int], None] = lambda lines, read: None,
) -> int:
    """Score each line of the file `source` into a line of JSON of the file `out`; return the number of lines.

    Line n out is the result of line n in; see `records_of` for what a line holds. With `resume` the results that `out`
    has are checked against `source` and kept up to the last full batch, so that the whole file has the bytes of a run
    that was never stopped. Raise a ValueError if they come from another model or parser, or if another process writes
    `out`. `callback` gets the number of lines done and of bytes read.
    """
    if out.exists() and not out.is_file():
        raise ValueError(f"{out} is not a file; choose another --out, or leave it out to print")
    if out.exists() and out.samefile(source):
        raise ValueError(f"{out} is the file to be scored; choose another --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    pairs = isinstance(pipeline, RelatednessPipeline)
    with source.open("rb") as stream, out.open("ab") as file:
        if not hold(file):
            raise ValueError(f"another `bough score` is writing {out}; wait for it, or choose another --out")
        if file.tell() and not resume:
            raise ValueError(f"{out} is not empty; continue it with --resume, or choose another --out")
        done, end = _results_to_keep(pipeline, source, out, brief=brief)
        file.truncate(end)
        for group in groups(islice(records_of(stream, source, pairs=pairs), done, None)):
            file.write("".join(f"{line}\n" for line in scored(pipeline, group, brief=brief)).encode())
            file.flush()
            done += len(group)
            callback(done, stream.tell())
    return done


def print_scores(pipeline: Pipeline, source: Path, stream: BinaryIO, *, brief: bool = False) -> None:
    """Write the results of the file `source` to a stream, one batch at a time."""
    with source.open("rb") as lines:
        for group in groups(records_of(lines, source, pairs=isinstance(pipeline, RelatednessPipeline))):
            stream.write("".join(f"{line}\n" for line in scored(pipeline, group, brief=brief)).encode())
            stream.flush()


def _results_to_keep(pipeline: Pipeline, source: Path, out: Path, *, brief: bool) -> tuple[int, int]:
    """Return how many results in `out` are whole batches, and the byte at which they end.

    Raise a ValueError, and change nothing, if a line of `out`, even a partial one, is not the result of its line of
    `source`, or if the last result is not what this pipeline gives.
    """
    pairs = isinstance(pipeline, RelatednessPipeline)
    count, ends, last = 0, [0], None
    with source.open("rb") as lines, out.open("rb") as results:
        records = records_of(lines, source, pairs=pairs)
        for line in results:
            record = next(records, None)
            begin = "" if record is None else to_json({**record, "score" if pairs else "label": None})
            known = printable(begin).encode().removesuffix(b"null}")
            if record is None or line[: len(known)] != known[: len(line)]:
                raise ValueError(
                    f"line {count + 1} of {out} is not about line {count + 1} of {source}; "
                    "resume with the same file, or choose another --out"
                )
            if not line.endswith(b"\n"):
                break
            count += 1
            if count % AT_ONCE == 0:
                ends.append(results.tell())
            if not line.startswith(known + b"null"):
                last = record, line
    if last is not None:
        before, now = json.loads(last[1]), json.loads(scored(pipeline, [last[0]], brief=True)[0])
        if not pairs and ("nodes" in before) == brief:
            raise ValueError(
                f"{out} was made {'without' if brief else 'with'} --brief; resume it the same way"
            )
        old, new = before["probabilities"], now["probabilities"]
        if len(old) != len(new) or any(abs(a - b) > _NEAR for a, b in zip(old, new, strict=True)):
            raise ValueError(f"{out} was made with another model or parser; resume it the same way")
    return (len(ends) - 1) * AT_ONCE, ends[-1]


def records_of(
    lines: Iterable[bytes], source: Path, *, pairs: bool, first: int = 1, own: Collection[str] = ()
) -> Iterator[Record]:
    """Yield the record of each line: an object with `text`, or with `a` and `b` where `pairs` are wanted.

    A file named `.jsonl`, `.ndjson` or `.json` has one such object per line. Its other keys are kept, within `given` if
    results have such a key. Any other file has one text per line, or two texts with a tab between. A blank line gives
    empty texts. `first` is the number of the first line; `own` are more keys that results have.
    """
    keys = ("a", "b") if pairs else ("text",)
    for number, line in numbered(lines, str(source), first):
        record: Any
        if not line.strip():
            record = dict.fromkeys(keys, "") if pairs else {"text": line}
        elif source.suffix.lower() in JSON_LINES:
            record = parse_json(line, str(source), number)
        else:
            texts = line.split("\t") if pairs else [line]
            if len(texts) > len(keys):
                raise FormatError(
                    f"{len(texts)} columns; a pair is two, with a tab between", where=str(source), line=number
                )
            record = dict(zip(keys, texts, strict=False))
        yield checked_record(record, str(source), number, pairs=pairs, own=own)


def checked_record(
    record: Any, source: str, number: int, *, pairs: bool, own: Collection[str] = ()
) -> Record:
    """Return the record with the keys that results have too moved into `given`; raise a FormatError without texts."""
    for key in ("a", "b") if pairs else ("text",):
        if not isinstance(record, dict) or not isinstance(record.get(key), str):
            raise FormatError(f'no "{key}" key with a string', where=source, line=number)
    taken = {GIVEN, *own, *(NO_PAIR if pairs else NO_TEXT | NO_PHRASES)}
    if clashing := {key: value for key, value in record.items() if key in taken}:
        record = {key: value for key, value in record.items() if key not in taken} | {GIVEN: clashing}
    return record  # type: ignore[no-any-return]


def results_of(pipeline: Pipeline, records: Iterable[Record], *, brief: bool) -> list[Record]:
    """Return what the pipeline says of each record; nulls for one without words."""
    if isinstance(pipeline, RelatednessPipeline):
        ratings = pipeline.stream_any((record["a"], record["b"]) for record in records)
        return [NO_PAIR if rating is None else rating.as_dict() for rating in ratings]
    nothing = NO_TEXT if brief else NO_TEXT | NO_PHRASES
    texts = pipeline.stream_any(record["text"] for record in records)
    return [nothing if text is None else text.as_dict(phrases=not brief) for text in texts]


def scored(pipeline: Pipeline, records: list[Record], *, brief: bool) -> list[str]:
    """Return a line of JSON for each record: the record and its result."""
    results = results_of(pipeline, records, brief=brief)
    return [printable(to_json(record | result)) for record, result in zip(records, results, strict=True)]
