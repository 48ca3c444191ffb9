"""The command `python -m paper`: train and evaluate systems, reproduce the paper, fetch its data."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bough.cli import Commands, grouped_app
from bough.cli.console import complain, plain_console
from bough.cli.options import Json, Ray, Settings, address_of, check_device, parse_settings, use_threads
from bough.cli.progress import ProgressBars, TrainingDisplay
from bough.cli.tables import class_table, metric_table
from bough.cli.tools import Source, fetch_all, glove_set

if TYPE_CHECKING:
    from paper.document import Block
    from paper.runner import PlanProgress

SECTIONS = {  # the section of the report for each part
    "table1": "Parameter counts",
    "table2": "Sentiment",
    "table3": "Relatedness",
    "table4": "Nearest sentences",
    "figure3": "Sentence length",
    "figure4": "Sentence length",
    "claims": "Claims",
    "beyond": "Beyond the paper",
    "parser": "What the parser costs",
}

# options of several commands
Data = Annotated[Path | None, Parameter(help="Data folder; else BOUGH_DATA, else the user cache.")]
Device = Annotated[str, Parameter(help="cpu, cuda, mps, ...")]


def build_app() -> App:
    commands: Commands = {
        "Systems": [train, evaluate, recipes],
        "The whole paper": [reproduce],
        "Data": [fetch, prepare],
    }
    return grouped_app("python -m paper", "Reproduce the paper: every row, figure and claim.", commands)


def train(
    recipe: str,
    /,
    *,
    seed: int = 1,
    out: Path | None = None,
    settings: Settings = [],  # noqa: B006
    resume: bool = False,
    data: Data = None,
    device: Device = "cpu",
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
        key=value overrides the recipe, vectors=6B for example; may be repeated.
    resume
        Continue an interrupted run; a finished one is left as it is.
    """
    from bough.train.distributed import joined, restarts
    from paper.fit_system import FIGURES
    from paper.recipes import load_recipe
    from paper.train import train as run

    use_threads()
    with joined(device) as ranks:
        check_device(device)
        config = load_recipe(recipe).with_settings(parse_settings(settings))
        name = Path(recipe).name
        folder = out or Path("runs") / f"{name.removesuffix('.toml')}-{seed}"
        console = Console(quiet=not ranks.first)
        logging.getLogger("bough").setLevel(logging.INFO if ranks.first else logging.ERROR)
        options: dict[str, Any] = {"data": data, "resume": resume or restarts(), "device": device}
        with TrainingDisplay(console) as display:
            result = run(config, folder, seed=seed, recipe=name, callback=display.show, **options)
    if not ranks.first:
        return
    chosen = f", epoch {result['epoch']} chosen on dev" if result["epoch"] else ""
    console.print(metric_table(result["test"], f"test, {result['vectors']}{chosen}", FIGURES))
    plain_console().print(str(folder), style="dim")


def evaluate(
    run: Path,
    /,
    *,
    split: str = "test",
    data: Data = None,
    out: Path | None = None,
    as_json: Json = False,
    device: Device = "cpu",
) -> None:
    """Measure a run on a split of its data set.

    Parameters
    ----------
    run
        Folder of a run.
    split
        train, dev or test.
    out
        File for the predictions, one line per example.
    as_json
        Print the metrics as JSON.
    """
    from paper.evaluate import evaluate as measure
    from paper.fit_system import FIGURES

    use_threads()
    check_device(device)
    report = measure(run, split, data=data, device=device, out=out)
    if as_json:
        print(json.dumps(report.figures, indent=2))
        return
    console = Console()
    console.print(metric_table(report.figures, f"{split}, {report.examples:,} examples", FIGURES))
    if report.classes:
        console.print(class_table(report.classes, "by class"))


def recipes() -> None:
    """List the recipes: one per row of the paper's tables."""
    from bough.train.recipes import recipe_files
    from paper.recipes import FOLDER, load_recipe

    table = Table("recipe", "what it is")
    for name in recipe_files(FOLDER):
        table.add_row(name, load_recipe(name).about)
    Console().print(table)


def reproduce(
    what: Literal[
        "table1", "table2", "table3", "table4", "figure3", "figure4", "claims", "all", "beyond", "parser"
    ],
    /,
    *,
    seeds: int = 5,
    jobs: int | None = None,
    out: Path = Path(__file__).parent / "results",
    data: Data = None,
    settings: Settings = [],  # noqa: B006
    readme: Annotated[list[Path], Parameter(negative="", show_default=False)] = [],  # noqa: B006
    again: Annotated[bool, Parameter(negative="")] = False,
    ray: Ray = None,
) -> None:
    """Run the paper's experiments and write the report.

    Finished runs are not repeated.

    Parameters
    ----------
    what
        A table, a figure, the paper's claims, all of these; beyond (transformers) or parser (the trees of
        the built-in parser beside the paper's), which are not part of all.
    seeds
        Runs per system.
    jobs
        Runs at the same time, each a process of one thread; 2 unless given, or with --ray all processors.
    out
        Folder for results and report; an interrupted command resumes from it.
    settings
        key=value overrides every recipe, to try something out (use another --out); may be repeated.
    readme
        Also put the short tables, or the headline, between the markers in this file, such as
        docs/results.md or README.md; may be repeated.
    again
        Train again what an earlier version of the code has trained. By default such stored runs are
        shown, with their version.
    ray
        On a Ray cluster: at this address, else RAY_ADDRESS, else this machine's processors.
    """
    from bough.data import find_data
    from paper.runner import reproduce as run

    options: dict[str, Any] = {"seeds": seeds, "out": out, "data": find_data(data), "readme": readme}
    options |= {"overrides": parse_settings(settings), "again": again}
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs {jobs}: at least 1")
    with contextlib.ExitStack() as stack:
        options["jobs"] = lambda: jobs or 2
        if ray is not None:
            from bough.integrations.ray.connection import connected, processors
            from paper.ray_runs import RayRun

            cluster = stack.enter_context(connected(address_of(ray)))
            options["start"] = partial(RayRun, cluster)
            options["jobs"] = lambda: min(processors(cluster), jobs or processors(cluster))
        display = stack.enter_context(RunsDisplay(Console()))
        sections, failed = run(what, **options, show=display.show)
    for block in sections.get(SECTIONS.get(what, ""), ()):
        show_block(block, Console(highlight=False, markup=False, emoji=False))
    plain_console().print(f"report: {out / 'report.html'}, {out / 'report.md'}")
    if failed:
        lines = "".join(f"\n  {name}: {why}" for name, why in failed.items())
        complain(f"{len(failed)} run{'s' if len(failed) > 1 else ''} failed{lines}")
        sys.exit(1)


def show_block(block: Block, console: Console) -> None:
    """Print a part of the report as Markdown. On a terminal, draw a table in its width instead."""
    from paper import document

    if not console.is_terminal or not isinstance(block, document.Table):
        console.print(document.block_as_markdown(block), soft_wrap=True)
        return
    table = Table(
        title=block.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for name in block.header:
        table.add_column(name.replace(" ", "\n"), overflow="fold")  # narrow, for the nine columns of Table 1
    for row in block.rows:
        table.add_row(*(f"{cell.text}\n{cell.verdict}".rstrip() for cell in row))
    console.print(table)
    for note in block.notes:
        console.print(note)


class RunsDisplay(ProgressBars):
    """Print a line for each run that ends. On a terminal, also show a bar for each run at work."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.shown: int | None = None  # events that have been printed

    def show(self, progress: PlanProgress) -> None:
        """Print the new events and update the bars."""
        plain: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}
        if self.shown is None:
            runs = "run" if progress.total == 1 else "runs"
            self.console.print(f"{progress.total} {runs}, {progress.skipped} done before", **plain)
            if progress.stored:
                from paper.results import joined_versions

                versions = joined_versions(progress.stored)
                line = f"stored runs of {versions}: {len(progress.stored)}; training has changed since"
                self.console.print(f"{line}, --again trains them with this version", **plain)
            if progress.missing:
                systems = dict.fromkeys(run.system for run in progress.missing)
                line = f"missing: {len(progress.missing)} more runs of {', '.join(systems)}"
                self.console.print(f"{line}; --again trains them with the others of their rows", **plain)
        for event in progress.events[self.shown or 0 :]:
            self.console.print(f"[{progress.ended}/{progress.total}] {event}", **plain)
        self.shown, left = len(progress.events), progress.time_left()
        time = "time left unknown yet" if left is None else f"about {timedelta(seconds=round(left))} left"
        counts = f"{progress.done} done, {progress.skipped} before, {len(progress.failed)} failed, {time}"
        self.update("all runs", progress.ended, progress.total, counts)
        for run, one in progress.running.items():
            self.update(run.name, one.epoch, one.epochs, str(one))
        for name in self.tasks.keys() - {"all runs", *(run.name for run in progress.running)}:
            self.progress.remove_task(self.tasks.pop(name))


def fetch(
    *what: Literal["sst", "sick", "glove", "wordnet"],
    data: Data = None,
    source: Source = None,
    vectors: str = "840B",
    parser: str | None = None,
) -> None:
    """Download SST, SICK, GloVe and WordNet into the data folder, and parse what has no trees.

    The files come from their official sites and are checked by checksums. Files that are there
    already stay. The archives have the phrase trees of SST, but no dependency trees and no trees of
    SICK: where these are not in the data folder, a parser makes them.

    Parameters
    ----------
    what
        sst, sick, glove or wordnet; all four unless given.
    source
        Take local copies from this folder instead of the network.
    vectors
        Which GloVe set: 840B, 42B or 6B.
    parser
        builtin (the default), spacy, stanza, corenlp, corenlp:URL, or the folder of a trained parser.
    """
    from bough.data import find_data
    from bough.text import get_parser
    from paper.fetch import SICK, SST, WORDNET, is_there
    from paper.parses import AUTO, BUILTIN, HEADS, PAPER, choose_trees

    if parser is not None:
        get_parser(parser)  # before a long download
    sets = {"sst": SST, "sick": SICK, "glove": glove_set(vectors), "wordnet": WORDNET}
    folder = data or find_data()
    wanted = what or ("sst", "sick", "glove", "wordnet")
    for name in wanted:
        if source is None and is_there(sets[name], folder):
            plain_console().print(f"{name}: already in {folder}")
        else:
            fetch_all([sets[name]], folder, source)
    parsed: tuple[Literal["sst", "sick"], ...] = ("sst", "sick")
    for name in parsed:
        whose = [choose_trees(AUTO, folder, name, kind) for kind in HEADS[name]]
        if name in wanted and (parser is not None or set(whose) != {PAPER}):
            prepare(name, parser=parser or BUILTIN, data=folder)


def prepare(what: Literal["sst", "sick"], /, *, parser: str = "builtin", data: Data = None) -> None:
    """Parse SST or SICK, unless this parser has done it. `fetch` does this for new data.

    The trees are put beside the official files, with a file that says by what and when they were
    made. Training reads the trees of the paper's authors where they are in the data folder, else
    those of a parser. `--set trees=NAME` chooses.

    Parameters
    ----------
    what
        sst (dependency trees; its phrase trees are published) or sick (both kinds).
    parser
        builtin, spacy, stanza, corenlp, corenlp:URL, or the folder of a trained parser.
    """
    from bough.data import find_data
    from paper.prepare import prepare as run

    use_threads()
    with ProgressBars(Console(stderr=True)) as bars:
        line = run(what, parser, find_data(data), tell=bars.update)
    plain_console().print(line)
