"""`python -m paper train`, `evaluate` and `recipes`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from bough.cli.console import plain_console
from bough.cli.figures import class_table, figure_table
from bough.cli.settings import parse_settings
from bough.cli.threads import check_device, use_threads
from bough.cli.training_display import TrainingDisplay


def train(
    recipe: str,
    /,
    *,
    seed: int = 1,
    out: Path | None = None,
    settings: Annotated[list[str], Parameter(name="--set", negative="")] = [],  # noqa: B006
    resume: bool = False,
    data: Path | None = None,
    vectors: str | None = None,
    threads: int = 1,
    device: str = "cpu",
) -> None:
    """Train one system of the paper and report its test score.

    Under `torchrun --nproc-per-node N -m paper train ...` N processes compute the same steps together.

    Parameters
    ----------
    recipe
        A recipe's name (see `python -m paper recipes`), or a TOML file of your own.
    seed
        Random seed for shuffling, initialization and dropout.
    out
        Folder of the run; runs/RECIPE-SEED unless given.
    settings
        key=value overrides the recipe; may be repeated.
    resume
        Continue an interrupted run; a finished one is left as it is.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    vectors
        840B, 840B-completed, 42B, 6B, or a GloVe file.
    threads
        Threads of torch; one is fastest at the paper's sizes.
    device
        cpu, cuda, mps, ...
    """
    from bough.train.torchrun import joined, restarts
    from paper.recipes import load_recipe
    from paper.train import train as run

    use_threads(threads)
    with joined(device) as ranks:
        check_device(device)
        config = load_recipe(recipe).with_settings(parse_settings(settings))
        if vectors is not None:
            config = config.with_settings({"vectors": vectors})
        name = Path(recipe).name
        folder = out or Path("runs") / f"{name.removesuffix('.toml')}-{seed}"
        console = Console(quiet=not ranks.first)
        logging.getLogger("bough").setLevel(logging.INFO if ranks.first else logging.ERROR)
        with TrainingDisplay(console) as display:
            result = run(
                config,
                folder,
                seed=seed,
                data=data,
                resume=resume or restarts(),
                device=device,
                recipe=name,
                tell=display.show,
            )
    if not ranks.first:
        return
    chosen = f", epoch {result['epoch']} chosen on dev" if result["epoch"] else ""
    console.print(figure_table(result["test"], f"test, {result['vectors']}{chosen}"))
    plain_console().print(str(folder), style="dim")


def evaluate(
    run: Path,
    /,
    *,
    split: str = "test",
    data: Path | None = None,
    out: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    threads: int = 1,
    device: str = "cpu",
) -> None:
    """Measure a run on a split of its data set.

    Parameters
    ----------
    run
        Folder of a run.
    split
        train, dev or test.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    out
        File for the predictions, one line per example.
    as_json
        Print the metrics as JSON.
    threads
        Threads of torch.
    device
        cpu, cuda, mps, ...
    """
    from paper.evaluate import evaluate as measure

    use_threads(threads)
    check_device(device)
    report = measure(run, split, data=data, device=device, out=out)
    if as_json:
        print(json.dumps(report.figures, indent=2))
        return
    console = Console()
    console.print(figure_table(report.figures, f"{split}, {report.examples:,} examples"))
    if report.classes:
        console.print(class_table(report.classes, "by class"))


def recipes() -> None:
    """List the recipes: one per row of the paper's tables."""
    from paper.recipes import load_recipe, recipe_names

    table = Table("recipe", "what it is")
    for name in recipe_names():
        table.add_row(name, load_recipe(name).about)
    Console().print(table)
