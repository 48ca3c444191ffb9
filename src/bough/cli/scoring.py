"""`bough score`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from bough.cli.console import plain_console
from bough.cli.options import Ray, address_of, use_threads
from bough.cli.progress import LineRate, ProgressBars


def score(
    *files: str,
    out: str | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    brief: Annotated[bool, Parameter(negative="")] = False,
    parser: str = "builtin",
    model: str = "sentiment",
    ray: Ray = None,
    workers: int | None = None,
    format: Literal["jsonl", "parquet"] | None = None,
) -> None:
    """Score every line of a file, one line of JSON each, in order.

    Parameters
    ----------
    files
        One text per line; or, if named .jsonl, one object with "text" per line. For relatedness two texts with a tab
        between, or an object with "a" and "b". With --ray several files, folders or globs, .csv and .parquet
        among them.
    out
        File for the results; else they are printed. With --ray a folder, or its URI, that all nodes see.
    resume
        Continue --out where a run was stopped; with --ray a second start always does.
    brief
        Only the result of the whole text, not of its phrases.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    model
        sentiment, relatedness, relatedness-sick, or the folder of a model.
    ray
        On a Ray cluster: at this address, else RAY_ADDRESS, else this machine's processors.
    workers
        With --ray: processes of one processor and one model each; by default one per processor.
    format
        With --ray: of the parts, jsonl or parquet.
    """
    if not files:
        raise ValueError("no file to score; name one, and --ray after it")
    if ray is None and (len(files) > 1 or workers is not None or format is not None):
        what = "--workers" if workers is not None else "--format" if format else f"{len(files)} files"
        raise ValueError(f"{what}: only with --ray; without it one file is scored at a time")
    if ray is not None and out is None:
        raise ValueError("--ray writes its results into a folder; name it with --out")
    if resume and out is None:
        raise ValueError("--resume continues a file of results; name it with --out")
    with ProgressBars(Console(stderr=True)) as bars:
        rate = LineRate(bars)
        if ray is not None and out is not None:
            from bough.integrations.ray import score_files

            done = score_files(
                files,
                out,
                address=address_of(ray),
                model=model,
                parser=parser,
                brief=brief,
                format=format or "jsonl",
                workers=workers,
                callback=lambda lines, total: rate.update(lines, lines, total),
            )
        else:
            done = _score_here(Path(files[0]), out, resume, brief, parser, model, rate)
    if out is not None:
        plain_console(stderr=True).print(f"{done:,} lines in {out}")


def _score_here(
    file: Path, out: str | None, resume: bool, brief: bool, parser: str, model: str, rate: LineRate
) -> int:
    """Score one file in this process."""
    import bough
    from bough.pipelines.files import print_scores, score_file

    use_threads()
    if file.suffix.lower() in (".csv", ".parquet", ".pq"):  # a .tsv may well hold pairs
        raise ValueError(
            f"{file} is a table; with --ray its columns are read, else give a text or an object a line"
        )
    size = file.stat().st_size
    pipeline = bough.load(model, parser=parser)
    gc.freeze()  # so that a garbage collection does not walk through the model again and again
    if out is None:
        print_scores(pipeline, file, sys.stdout.buffer, brief=brief)
        return 0
    return score_file(
        pipeline,
        file,
        Path(out),
        resume=resume,
        brief=brief,
        callback=lambda lines, read: rate.update(lines, read, size),
    )
