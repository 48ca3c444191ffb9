"""The command `python -m bundle`: make and measure the bundled models and the built-in parser."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from bough.cli import Commands, grouped_app
from bough.cli.options import parse_settings, use_threads
from bough.cli.progress import ProgressBars, TrainingDisplay

if TYPE_CHECKING:
    from bundle.parser import Report

SIZES = {"sentiment": (240, 60_000), "relatedness": (270, 42_000)}  # columns and words of the bundled models

# options that several commands have
Out = Annotated[Path, Parameter(help="Folder for the exported model.")]
RunFolder = Annotated[
    Path | None,
    Parameter(help="Folder of the training run, continued if it exists; runs/NAME-SEED unless given."),
]
Seed = Annotated[int, Parameter(help="Random seed for shuffling, initialization and dropout.")]
Settings = Annotated[
    list[str], Parameter(name="--set", negative="", help="key=value overrides a setting; may be repeated.")
]
Data = Annotated[Path | None, Parameter(help="Data folder; else BOUGH_DATA, else the user cache.")]
Own = Annotated[
    bool,
    Parameter(negative="", help="The data are your own, in the same layout; their sizes are not checked."),
]
ParserName = Annotated[str, Parameter(help="builtin, spacy, stanza, corenlp, or corenlp:URL.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print the metrics as JSON.")]


def build_app() -> App:
    """Return the command line."""
    commands: Commands = {"Models": [sentiment, relatedness, export, check, parser], "Data": [prepare]}
    return grouped_app("python -m bundle", "Make and measure the models that come with bough.", commands)


# ------------------------------------------------------------------------- models


def sentiment(
    *,
    out: Out,
    run: RunFolder = None,
    seed: Seed = 1,
    settings: Settings = [],  # noqa: B006
    data: Data = None,
) -> None:
    """Train the bundled sentiment model and export it."""
    _train_and_export("sentiment", out, run, seed, settings, data)


def relatedness(
    *,
    out: Out,
    run: RunFolder = None,
    seed: Seed = 1,
    settings: Settings = [],  # noqa: B006
    data: Data = None,
) -> None:
    """Train the bundled relatedness model and export it."""
    _train_and_export("relatedness", out, run, seed, settings, data)


def _train_and_export(
    name: str, out: Path, run: Path | None, seed: int, settings: list[str], data: Path | None
) -> None:
    from bundle.config import load_recipe
    from bundle.export import export_run
    from paper.train import train

    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
    folder = run or Path("runs") / f"{name}-{seed}"
    config = load_recipe(name).with_settings(parse_settings(settings))
    with TrainingDisplay(Console()) as display:
        train(
            config, folder, seed=seed, data=data, resume=folder.exists(), recipe=name, callback=display.show
        )
    columns, words = SIZES[name]
    _show(export_run(folder, name, out, data=data, columns=columns, words=words)["scores"], as_json=False)


def export(
    run: Path,
    /,
    *,
    name: Literal["sentiment", "relatedness", "relatedness-sick"],
    out: Out,
    data: Data = None,
    parser: ParserName = "builtin",
    columns: int = 240,
    words: int = 60_000,
    as_json: AsJson = False,
) -> None:
    """Compress a trained run into a small model for the package, and measure it.

    The exported model has int8 numbers and a wide vocabulary instead of word vectors.

    Parameters
    ----------
    run
        Folder of a run.
    name
        What it becomes.
    columns
        Numbers per word.
    words
        How many words of the vectors' file to include, the most frequent first.
    """
    from bundle.export import export_run

    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
    facts = export_run(run, name, out, data=data, parser=parser, columns=columns, words=words)
    _show(facts["scores"], as_json)


def check(
    model: Path,
    /,
    *,
    data: Data = None,
    own: Own = False,
    parser: ParserName = "builtin",
    as_json: AsJson = False,
) -> None:
    """Measure an exported model on gold trees and on plain text.

    Parameters
    ----------
    model
        Folder of an exported model.
    """
    from bough.models.bundled import load_model
    from bundle.export import score_text, score_trees

    use_threads()
    loaded = load_model(model)
    scores = {
        split: {
            "shipped": score_trees(loaded, split, data=data, check=not own),
            "text": score_text(loaded, split, data=data, parser=parser, check=not own),
        }
        for split in ("dev", "test")
    }
    _show(scores, as_json)


def _show(scores: dict[str, dict[str, dict[str, Any]]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(scores, indent=2))
        return
    for split, steps in scores.items():
        table = Table("", *next(iter(steps.values())), title=split, title_justify="left")
        for step, metrics in steps.items():
            table.add_row(step, *(f"{value:.4f}" for value in metrics.values()))
        Console().print(table)


# ------------------------------------------------------------------------- parser

parser = App(name="parser", help="Train or evaluate the built-in parser.", result_action="return_value")


@parser.command(name="train")
def train_parser(
    *,
    out: Path,
    settings: Settings = [],  # noqa: B006
    resume: Annotated[bool, Parameter(negative="")] = False,
    data: Data = None,
    own: Own = False,
    as_json: AsJson = False,
) -> None:
    """Train a parser on SST, SICK and the treebanks; its folder can be bundled as it is, card included.

    It takes an hour on one core. The epoch that is best on dev is saved, and measured on test at the end.

    Parameters
    ----------
    out
        Folder for the parser, `metrics.jsonl` and the checkpoint.
    resume
        Continue an interrupted run.
    """
    from bough.train.parser.config import Config
    from bundle.parser import train

    use_threads()
    for package in ("bough", "bundle"):
        logging.getLogger(package).setLevel(logging.INFO)
    report = train(Config().with_settings(parse_settings(settings)), data, out, resume=resume, check=not own)
    if report is not None:
        _show_parser(report, as_json)


@parser.command(name="evaluate")
def evaluate_parser(
    folder: Path | None = None,
    /,
    *,
    split: Literal["dev", "test"] = "test",
    data: Data = None,
    own: Own = False,
    as_json: AsJson = False,
) -> None:
    """Measure a parser and its speed: brackets, heads and relations on SST and on unseen sentences of SICK and GUM.

    Parameters
    ----------
    folder
        Folder of a parser; the bundled one unless given.
    split
        dev or test.
    """
    from bough.text import BUILTIN
    from bundle.parser import evaluate

    use_threads()
    _show_parser(evaluate(folder or BUILTIN, data, split, check=not own), as_json)


def _show_parser(report: Report, as_json: bool) -> None:
    from dataclasses import asdict

    from bough.train.parser.evaluation import FIGURES, shown

    if as_json:
        print(json.dumps(asdict(report), indent=2))
        return
    table = Table("", *report.columns)
    for key, name in FIGURES.items():
        table.add_row(name, *(shown(getattr(scores, key)) for scores in report.columns.values()))
    console = Console()
    console.print(table)
    speed = f"{report.sentences_a_second:.0f} sentences per second of one core, text to both trees"
    console.print(speed, highlight=False)


# --------------------------------------------------------------------------- data


def prepare(
    what: Literal["opinions", "stsb"],
    /,
    *,
    parser: ParserName = "builtin",
    data: Data = None,
    out: Path | None = None,
) -> None:
    """Parse the sources that the bundled models learn from beside SST and SICK.

    Parameters
    ----------
    what
        opinions (comments, titles and first sentences of reviews), or stsb (pairs by genre).
    out
        Data folder to write; the same one unless given.
    """
    from bough.text import get_parser
    from bundle.opinions import prepare_opinions
    from bundle.sts import prepare_sts

    use_threads()
    engine = get_parser(parser)
    console = Console(stderr=True)
    write = prepare_opinions if what == "opinions" else prepare_sts
    with ProgressBars(console) as bars:
        files = write(engine, data, out, tell=bars.update)
    console.print(f"{what}: {len(files)} files by {engine.name}", highlight=False)
