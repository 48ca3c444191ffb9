"""`python -m bundle sentiment`, `relatedness`, `export` and `check`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from bough.cli.settings import parse_settings
from bough.cli.threads import use_threads
from bough.cli.training_display import TrainingDisplay

Settings = Annotated[list[str], Parameter(name="--set", negative="")]
SIZES = {"sentiment": (240, 60_000), "relatedness": (270, 42_000)}  # columns and words of the bundled models
AsJson = Annotated[bool, Parameter(name="--json", negative="")]


def sentiment(
    *,
    out: Path,
    run: Path | None = None,
    seed: int = 1,
    settings: Settings = [],  # noqa: B006
    data: Path | None = None,
) -> None:
    """Train the bundled sentiment model and export it.

    Parameters
    ----------
    out
        Folder for the exported model.
    run
        Folder of the training run, which is continued if it exists; runs/sentiment-SEED unless given.
    seed
        Random seed for shuffling, initialization and dropout.
    settings
        key=value overrides the recipe; may be repeated.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    """
    _make("sentiment", out, run, seed, settings, data)


def relatedness(
    *,
    out: Path,
    run: Path | None = None,
    seed: int = 1,
    settings: Settings = [],  # noqa: B006
    data: Path | None = None,
) -> None:
    """Train the bundled relatedness model and export it.

    Parameters
    ----------
    out
        Folder for the exported model.
    run
        Folder of the training run, which is continued if it exists; runs/relatedness-SEED unless given.
    seed
        Random seed for shuffling, initialization and dropout.
    settings
        key=value overrides the recipe; may be repeated.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    """
    _make("relatedness", out, run, seed, settings, data)


def _make(name: str, out: Path, run: Path | None, seed: int, settings: list[str], data: Path | None) -> None:
    from bundle.export import ship
    from bundle.recipes import load_recipe
    from paper.train import train

    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
    folder = run or Path("runs") / f"{name}-{seed}"
    config = load_recipe(name).with_settings(parse_settings(settings))
    with TrainingDisplay(Console()) as display:
        train(config, folder, seed=seed, data=data, resume=folder.exists(), recipe=name, tell=display.show)
    columns, words = SIZES[name]
    _show(ship(folder, name, out, data=data, columns=columns, words=words)["scores"])


def export(
    run: Path,
    /,
    *,
    name: Literal["sentiment", "relatedness", "relatedness-sick"],
    out: Path,
    data: Path | None = None,
    parser: str = "builtin",
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
    out
        Folder for the exported model.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    parser
        For plain text: builtin, spacy, stanza, corenlp.
    columns
        Numbers per word.
    words
        How many words of the vectors' file to include, the most frequent first.
    as_json
        Print the metrics as JSON.
    """
    from bundle.export import ship

    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
    _show(ship(run, name, out, data=data, parser=parser, columns=columns, words=words)["scores"], as_json)


def check(
    model: Path,
    /,
    *,
    data: Path | None = None,
    own: Annotated[bool, Parameter(negative="")] = False,
    parser: str = "builtin",
    as_json: AsJson = False,
) -> None:
    """Measure an exported model on gold trees and on plain text.

    Parameters
    ----------
    model
        Folder of an exported model.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    own
        The data are your own, in the same layout; their sizes are not checked.
    parser
        For plain text: builtin, spacy, stanza, corenlp.
    as_json
        Print the metrics as JSON.
    """
    from bough.models.bundled import load_model
    from bundle.check import on_gold_trees, on_text

    use_threads()
    found = load_model(model)
    scores = {
        split: {
            "shipped": on_gold_trees(found, split, data=data, check=not own),
            "text": on_text(found, split, data=data, parser=parser, check=not own),
        }
        for split in ("dev", "test")
    }
    _show(scores, as_json)


def _show(scores: dict[str, dict[str, dict[str, Any]]], as_json: bool = False) -> None:
    if as_json:
        print(json.dumps(scores, indent=2))
        return
    for split, steps in scores.items():
        table = Table("", *next(iter(steps.values())), title=split, title_justify="left")
        for step, figures in steps.items():
            table.add_row(step, *(f"{value:.4f}" for value in figures.values()))
        Console().print(table)
