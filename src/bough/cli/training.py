"""`bough train`, `bough evaluate` and `bough recipes`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from bough.cli.console import plain_console
from bough.cli.figures import NAMES, class_table, confusion_table
from bough.cli.settings import parse_settings
from bough.cli.threads import use_threads


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

    Under `torchrun --nproc-per-node N -m bough train ...` N processes compute the same steps together.

    Parameters
    ----------
    recipe
        A recipe's name (see `bough recipes`), or a TOML file of your own.
    seed
        Drives order, initial weights and dropout; on one kind of CPU the same command gives the same bytes.
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
    from bough.training.recipes import load_recipe
    from bough.training.torchrun import joined, restarts
    from bough.training.train import train as run

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
        with _Display(console) as display:
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
    console.print(_figures(result["test"], f"test, {result['vectors']}{chosen}"))
    plain_console().print(str(folder), style="dim")


def evaluate(
    run: Path,
    file: Path | None = None,
    /,
    *,
    text: Annotated[list[str], Parameter(negative="")] = [],  # noqa: B006
    label: str | None = None,
    split: str | None = None,
    parser: str | None = None,
    data: Path | None = None,
    out: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    threads: int = 1,
    device: str | None = None,
) -> None:
    """Score a model on its data set, or on your own labelled file.

    Parameters
    ----------
    run
        Folder of a run or of a fitted model.
    file
        A labelled file, as `bough fit` takes it.
    text
        The file's column of the text; twice for pairs.
    label
        The file's column of the label or the rating.
    split
        Without a file: train, dev or test; test unless given.
    parser
        For the texts of a file: builtin, spacy, stanza, corenlp, or corenlp:URL; builtin unless given.
    data
        Without a file: data folder; else BOUGH_DATA, else the user cache.
    out
        File for the predictions, one line per example.
    as_json
        Print the figures as JSON.
    threads
        Threads of torch.
    device
        Without a file: cpu, cuda, mps, ...; cpu unless given.
    """
    from bough.training.evaluate import evaluate as score

    use_threads(threads)
    if file is not None:
        from bough.fitting.judging import judge

        _refuse("without a FILE, for the model's own data set", split=split, data=data, device=device)
        report, what = judge(run, file, text, label, parser=parser or "builtin", out=out), str(file)
    else:
        _refuse("with a FILE, whose texts and labels it is about", text=text, label=label, parser=parser)
        device, what = device or "cpu", split or "test"
        check_device(device)
        report = score(run, what, data=data, device=device, out=out)
    if as_json:
        print(json.dumps(report.figures, indent=2))  # noqa: T201
        return
    console = Console()
    console.print(_figures(report.figures, f"{what}, {report.examples:,} examples"))
    if report.classes:
        console.print(class_table(report.classes, "by class"))
    if report.confusion:
        console.print(confusion_table(report.classes, report.confusion, "which was taken for which"))


def _refuse(unless: str, **options: object) -> None:
    """Nothing that was asked for is left undone in silence."""
    for name, value in options.items():
        if value is not None and value != []:
            raise ValueError(f"--{name}: only {unless}")


def recipes() -> None:
    """List the recipes: one per row of the paper's tables."""
    from bough.training.recipes import load_recipe, recipe_names

    table = Table("recipe", "what it is")
    for name in recipe_names():
        table.add_row(name, load_recipe(name).about)
    Console().print(table)


def check_device(device: str) -> None:
    """One line for a device that cannot be had."""
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"--device {device}: {reason}") from None


def _figures(figures: dict[str, float], title: str) -> Table:
    table = Table(title=title, show_header=False)
    for name, value in figures.items():
        derived = ", derived from the five" if name == "binary" and "accuracy" in figures else ""
        table.add_row(NAMES.get(name, name) + derived, f"{value:.4f}")
    return table


class _Display:
    """One progress bar per epoch, and one line per finished epoch."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn(
                "{task.completed:.0f}/{task.total:.0f}  loss {task.fields[loss]:.3f}  {task.fields[rate]}"
            ),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self.task: TaskID | None = None

    def __enter__(self) -> _Display:
        self.progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.progress.stop()

    def show(self, event: Any) -> None:
        """One event of the training loop."""
        done = (event.epoch - 1) * event.total + event.done
        fields = {"epoch": f"{event.epoch}/{event.epochs}", "loss": event.loss, "rate": f"{event.rate:.0f}/s"}
        if self.task is None:
            self.task = self.progress.add_task("", total=event.epochs * event.total, **fields)
        self.progress.update(self.task, completed=done, **fields)
        if event.dev is not None:
            dev = "  ".join(f"{NAMES.get(name, name)} {value:.4f}" for name, value in event.dev.items())
            speed = f"{event.rate:,.0f}/s"
            self.console.print(
                f"epoch {event.epoch:2}  {speed}  loss {event.loss:.4f}  dev: {dev}", highlight=False
            )
