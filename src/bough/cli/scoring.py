"""`bough score`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from bough.cli.cluster import Ray, address_of
from bough.cli.console import plain_console
from bough.cli.threads import use_threads


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
    if ray is not None:
        if out is None:
            raise ValueError("--ray writes its results into a folder; name it with --out")
        _on_ray(files, out, brief, parser, model, address_of(ray), workers, format or "jsonl")
        return
    if len(files) > 1 or workers is not None or format is not None:
        what = "--workers" if workers is not None else "--format" if format else f"{len(files)} files"
        raise ValueError(f"{what}: only with --ray; without it one file is scored at a time")
    _here(Path(files[0]), None if out is None else Path(out), resume, brief, parser, model)


def _here(file: Path, out: Path | None, resume: bool, brief: bool, parser: str, model: str) -> None:
    import bough
    from bough.integrations.ray.splits import PARQUET
    from bough.pipelines.files import print_scores, score_file

    use_threads()
    if file.suffix.lower() in (".csv", *PARQUET):  # two texts with a tab between may well be called .tsv
        raise ValueError(
            f"{file} is a table; with --ray its columns are read, else give a text or an object a line"
        )
    if resume and out is None:
        raise ValueError("--resume continues a file of results; name it with --out")
    size = file.stat().st_size
    pipeline = bough.load(model, parser=parser)
    gc.freeze()  # what is loaded stays: a collection that walks it finds nothing, again and again
    if out is None:
        print_scores(pipeline, file, sys.stdout.buffer, brief=brief)
        return
    with _Bar() as bar:
        done = score_file(
            pipeline,
            file,
            out,
            resume=resume,
            brief=brief,
            tell=lambda lines, read: bar.show(lines, read, size),
        )
    plain_console(stderr=True).print(f"{done:,} lines in {out}")


def _on_ray(
    files: tuple[str, ...],
    out: str,
    brief: bool,
    parser: str,
    model: str,
    address: str | None,
    workers: int | None,
    format: Literal["jsonl", "parquet"],
) -> None:
    from bough.integrations.ray.scoring import score_files

    with _Bar() as bar:
        done = score_files(
            files,
            out,
            address=address,
            model=model,
            parser=parser,
            brief=brief,
            format=format,
            workers=workers,
            tell=lambda lines, total: bar.show(lines, lines, total),
        )
    plain_console(stderr=True).print(f"{done:,} lines in {out}")


class _Bar(Progress):
    """How far it is, and how fast: lines a second since the first word of it."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        super().__init__(
            TextColumn("{task.fields[lines]:,} lines"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]:,.0f}/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.bar = self.add_task("", total=None, lines=0, rate=0.0)
        self.first: tuple[int, float] | None = None

    def show(self, lines: int, done: int, total: int) -> None:
        """So many lines so far, which is `done` of `total`."""
        self.first = self.first or (lines, self.get_time())
        seconds = self.get_time() - self.first[1]
        rate = (lines - self.first[0]) / seconds if seconds else 0.0
        self.update(self.bar, total=total, completed=done, lines=lines, rate=rate)
