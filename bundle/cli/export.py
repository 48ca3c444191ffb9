"""`bough ship`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from bough.cli.threads import use_threads


def ship(
    run: Path,
    /,
    *,
    name: Literal["sentiment", "relatedness", "relatedness-sick"] | None = None,
    out: Path | None = None,
    check: Annotated[bool, Parameter(negative="")] = False,
    data: Path | None = None,
    parser: str = "builtin",
    columns: int = 240,
    words: int = 60_000,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Make a trained run into a small model to ship.

    It has int8 numbers and a wide vocabulary instead of word vectors, and its scores are measured.

    Parameters
    ----------
    run
        Folder of a run, or with --check of a shipped model.
    name
        What it becomes.
    out
        Folder for the shipped model.
    check
        Make nothing; measure a shipped model on gold trees and on plain text.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    parser
        For the plain text: builtin, spacy, stanza, corenlp.
    columns
        Numbers per word.
    words
        How many words of the vectors' file, the most frequent first.
    as_json
        Print the figures as JSON.
    """
    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
    if check:
        from bough.model.shipped import load_model
        from bough.pipeline.check import on_gold_trees, on_text

        model = load_model(run)
        scores = {
            split: {
                "shipped": on_gold_trees(model, split, data=data),
                "text": on_text(model, split, data=data, parser=parser),
            }
            for split in ("dev", "test")
        }
    else:
        from bough.pipeline.ship import ship as make

        if name is None or out is None:
            raise ValueError("--name and --out say what to make and where; --check only measures")
        scores = make(run, name, out, data=data, parser=parser, columns=columns, words=words)["scores"]
    if as_json:
        print(json.dumps(scores, indent=2))  # noqa: T201
        return
    for split, steps in scores.items():
        table = Table("", *next(iter(steps.values())), title=split, title_justify="left")
        for step, figures in steps.items():
            table.add_row(step, *(f"{value:.4f}" for value in figures.values()))
        Console().print(table)
