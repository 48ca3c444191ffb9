"""`bough evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from bough.cli.figures import class_table, confusion_table, figure_table
from bough.cli.threads import use_threads


def evaluate(
    model: str,
    file: Path,
    /,
    *,
    text: Annotated[list[str], Parameter(negative="")] = [],  # noqa: B006
    label: str | None = None,
    parser: str = "builtin",
    out: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    threads: int = 1,
) -> None:
    """Measure a model on a labelled file.

    Parameters
    ----------
    model
        A bundled model (sentiment, relatedness), or the folder of a fitted one.
    file
        A labelled file, as `bough fit` takes it.
    text
        The file's column of the text; twice for pairs.
    label
        The file's column of the label or the rating.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    out
        File for the predictions, one line per example.
    as_json
        Print the metrics as JSON.
    threads
        Threads of torch.
    """
    from bough.train.evaluate import judge

    use_threads(threads)
    report = judge(model, file, text, label, parser=parser, out=out)
    if as_json:
        print(json.dumps(report.figures, indent=2))  # noqa: T201
        return
    console = Console()
    console.print(figure_table(report.figures, f"{file}, {report.examples:,} examples"))
    if report.classes:
        console.print(class_table(report.classes, "by class"))
    if report.confusion:
        console.print(confusion_table(report.classes, report.confusion, "which was taken for which"))
