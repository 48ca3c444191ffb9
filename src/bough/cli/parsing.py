"""`bough parser train`, `bough parser evaluate` and `bough parser silver`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from bough.cli.bars import bars
from bough.cli.settings import parse_settings
from bough.cli.text import text_of
from bough.cli.threads import use_threads

if TYPE_CHECKING:
    from bough.parsing.builtin.training.evaluation import Report

parser = App(
    name="parser",
    help="Train or measure the built-in parser, or make text for one.",
    result_action="return_value",
)


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
    """Train a parser on SST, SICK and the treebanks; its folder can be shipped as it is, card included.

    An hour on one core. The epoch that is best on dev is kept, and measured on test at the end.

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
    from bough.parsing.builtin.training.config import Config
    from bough.parsing.builtin.training.train import train as run

    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
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
    """Measure a parser: brackets, heads and relations on SST and on unseen sentences of SICK and GUM; and its speed.

    Parameters
    ----------
    folder
        Folder of a parser; the shipped one unless given.
    split
        dev or test.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    own
        The data are your own, in the same layout; their sizes are not checked.
    as_json
        Print the figures as JSON.
    """
    from bough.parsing import BUILTIN
    from bough.parsing.builtin.training.evaluation import evaluate as measure

    use_threads()
    _show(measure(folder or BUILTIN, data, split, check=not own), as_json)


@parser.command
def silver(
    texts: Path | None = None,
    /,
    *,
    out: Path,
    parser: str = "builtin",
    other: str = "spacy",
    data: Path | None = None,
) -> None:
    """Parse text with two parsers and keep the arcs on which they agree, to train a parser on.

    Train with `bough parser train --set silver=FILE`.

    Parameters
    ----------
    texts
        UTF-8 text, one or more sentences a line; else the opinions' training texts in the data folder.
    out
        File to write, a sentence a line as JSON: tokens, heads (null where the parsers differ) and relations.
    parser
        builtin, or the folder of a trained one.
    other
        spacy, stanza, corenlp, or corenlp:URL.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    """
    from bough.parsing import get_parser
    from bough.parsing.builtin.training.silver import opinion_texts, write_silver

    use_threads()
    if out.exists():
        raise ValueError(f"{out} is there already; choose another file with --out")
    given = opinion_texts(data) if texts is None else text_of(texts).splitlines()
    console = Console(stderr=True)
    engines = get_parser(parser), get_parser(other)
    with bars(console) as tell:
        count, share = write_silver(given, *engines, out, tell=tell)
    message = f"{out}: {count:,} sentences; the parsers agree on {share:.1%} of the arcs"
    console.print(message, highlight=False, soft_wrap=True)


def _show(report: Report, as_json: bool) -> None:
    from bough.parsing.builtin.training.evaluation import FIGURES, shown

    if as_json:
        print(json.dumps(report.as_dict(), indent=2))  # noqa: T201
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
