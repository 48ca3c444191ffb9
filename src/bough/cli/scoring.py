"""`bough score`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from bough.cli.console import plain_console
from bough.cli.threads import use_threads


def score(
    file: Path,
    /,
    *,
    out: Path | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    brief: Annotated[bool, Parameter(negative="")] = False,
    parser: str = "builtin",
    model: str = "sentiment",
) -> None:
    """Score every line of a file, one line of JSON each, in order.

    Parameters
    ----------
    file
        One text per line; or, if named .jsonl, one object with "text" per line. For relatedness two texts with a tab
        between, or an object with "a" and "b".
    out
        File for the results; else they are printed.
    resume
        Continue --out where a run was stopped.
    brief
        Only the result of the whole text, not of its phrases.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    model
        sentiment, relatedness, or the folder of a model.
    """
    import bough
    from bough.pipeline.files import print_scores, score_file

    use_threads()
    if resume and out is None:
        raise ValueError("--resume continues a file of results; name it with --out")
    size = file.stat().st_size
    pipeline = bough.load(model, parser=parser)
    gc.freeze()  # what is loaded stays: a collection that walks it finds nothing, again and again
    if out is None:
        print_scores(pipeline, file, sys.stdout.buffer, brief=brief)
        return
    columns = (
        TextColumn("{task.fields[lines]:,} lines"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=size, lines=0, rate=0.0)
        first: list[tuple[int, float]] = []

        def tell(lines: int, read: int) -> None:
            if not first:
                first.append((lines, bar.get_time()))
            seconds = bar.get_time() - first[0][1]
            rate = (lines - first[0][0]) / seconds if seconds else 0.0
            bar.update(task, completed=read, lines=lines, rate=rate)

        done = score_file(pipeline, file, out, resume=resume, brief=brief, tell=tell)
    plain_console(stderr=True).print(f"{done:,} lines in {out}")
