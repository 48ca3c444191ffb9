"""`python -m bundle parser train` and `python -m bundle parser evaluate`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from bough.cli.settings import parse_settings
from bough.cli.threads import use_threads

if TYPE_CHECKING:
    from bundle.parser import Report

parser = App(name="parser", help="Train or evaluate the built-in parser.", result_action="return_value")


@parser.command
def train(
    *,
    out: Path,
    settings: Annotated[list[str], Parameter(name="--set", negative="")] = [],  # noqa: B006
    resume: Annotated[bool, Parameter(negative="")] = False,
    data: Path | None = None,
    own: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Train a parser on SST, SICK and the treebanks; its folder can be bundled as it is, card included.

    It takes an hour on one core. The epoch that is best on dev is saved, and measured on test at the end.

    Parameters
    ----------
    out
        Folder for the parser, `metrics.jsonl` and the checkpoint.
    settings
        key=value overrides the defaults; may be repeated. A parser's card lists its settings.
    resume
        Continue an interrupted run.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    own
        The data are your own, in the same layout; their sizes are not checked.
    as_json
        Print the figures as JSON.
    """
    from bough.train.parser.config import Config
    from bundle.parser import train as run

    use_threads()
    for package in ("bough", "bundle"):
        logging.getLogger(package).setLevel(logging.INFO)
    report = run(Config().with_settings(parse_settings(settings)), data, out, resume=resume, check=not own)
    if report is not None:
        _show(report, as_json)


@parser.command
def evaluate(
    folder: Path | None = None,
    /,
    *,
    split: Literal["dev", "test"] = "test",
    data: Path | None = None,
    own: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Measure a parser and its speed: brackets, heads and relations on SST and on unseen sentences of SICK and GUM.

    Parameters
    ----------
    folder
        Folder of a parser; the bundled one unless given.
    split
        dev or test.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    own
        The data are your own, in the same layout; their sizes are not checked.
    as_json
        Print the figures as JSON.
    """
    from bough.text import BUILTIN
    from bundle.parser import evaluate as measure

    use_threads()
    _show(measure(folder or BUILTIN, data, split, check=not own), as_json)


def _show(report: Report, as_json: bool) -> None:
    from bough.train.parser.evaluation import FIGURES, shown

    if as_json:
        print(json.dumps(report.as_dict(), indent=2))
        return
    columns = report.columns
    table = Table("", *columns)
    for key, name in FIGURES.items():
        table.add_row(name, *(shown(getattr(scores, key)) for scores in columns.values()))
    console = Console()
    console.print(table)
    console.print(
        f"{report.sentences_a_second:.0f} sentences per second of one core, text to both trees",
        highlight=False,
    )
