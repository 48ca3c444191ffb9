"""The command `python -m paper`: train, evaluate and list systems, reproduce the paper, fetch and parse its data."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from rich import box
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bough.cli import Commands, grouped_app
from bough.cli.console import complain, plain_console
from bough.cli.options import Ray, address_of, check_device, parse_settings, use_threads
from bough.cli.progress import ProgressBars, TrainingDisplay
from bough.cli.tables import class_table, metric_table
from bough.cli.tools import Source, fetch_all, glove_set

if TYPE_CHECKING:
    from paper import document
    from paper.executor import Executor
    from paper.runner import PlanProgress

Part = Literal["table1", "table2", "table3", "table4", "figure3", "figure4", "claims", "all", "beyond"]
Settings = Annotated[list[str], Parameter(name="--set", negative="")]
SECTIONS = {  # where a part stands in the report
    "table1": "Parameter counts",
    "table2": "Sentiment",
    "table3": "Relatedness",
    "table4": "Nearest sentences",
    "figure3": "Sentence length",
    "figure4": "Sentence length",
    "claims": "Claims",
    "beyond": "Beyond the paper",
}


TONES = {
    "within": "green",
    "better": "green",
    "worse": "yellow",
    "missing": "dim",
    "muted": "dim",
    "own": "cyan",
}


def build_app() -> App:
    """Return the command line."""
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
    from bough.train.distributed import joined, restarts
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
                callback=display.show,
            )
    if not ranks.first:
        return
    chosen = f", epoch {result['epoch']} chosen on dev" if result["epoch"] else ""
    console.print(metric_table(result["test"], f"test, {result['vectors']}{chosen}"))
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
    console.print(metric_table(report.figures, f"{split}, {report.examples:,} examples"))
    if report.classes:
        console.print(class_table(report.classes, "by class"))


def recipes() -> None:
    """List the recipes: one per row of the paper's tables."""
    from paper.recipes import load_recipe, recipe_names

    table = Table("recipe", "what it is")
    for name in recipe_names():
        table.add_row(name, load_recipe(name).about)
    Console().print(table)


def reproduce(
    what: Part,
    /,
    *,
    seeds: int = 5,
    jobs: int | None = None,
    out: Path = Path(__file__).parent / "results",
    data: Path | None = None,
    settings: Settings = [],  # noqa: B006
    readme: Annotated[list[Path], Parameter(negative="")] = [],  # noqa: B006
    ray: Ray = None,
) -> None:
    """Run the paper's experiments and write the report.

    Finished runs are not repeated.

    Parameters
    ----------
    what
        A table, a figure, the paper's claims, or all.
    seeds
        Runs per system.
    jobs
        Runs at the same time, each a process of one thread; 2 unless given, or with --ray all processors.
    out
        Folder for results and report; an interrupted command resumes from it.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    settings
        key=value overrides every recipe, to try something out (use another --out); may be repeated.
    readme
        Also put the short tables, or the headline, between the markers in this file, such as docs/results.md
        or README.md; may be repeated.
    ray
        On a Ray cluster: at this address, else RAY_ADDRESS, else this machine's processors.
    """
    from bough.data import find_data
    from paper.runner import reproduce as run

    console = Console()
    with _executor_for(ray, jobs) as executor, _RunsDisplay(console) as display:
        sections, failed = run(
            what,
            seeds=seeds,
            executor=executor,
            out=out,
            data=find_data(data),
            overrides=parse_settings(settings),
            readme=readme,
            show=display.show,
        )
    for section in sections:
        if section.title == SECTIONS.get(what):
            for block in section.blocks:
                _print(console, block)
    plain_console().print(f"report: {out / 'report.html'}, {out / 'report.md'}")
    if failed:
        lines = "".join(f"\n  {name}: {why}" for name, why in failed.items())
        complain(f"{len(failed)} run{'s' if len(failed) > 1 else ''} failed{lines}")
        sys.exit(1)


@contextlib.contextmanager
def _executor_for(ray: list[str] | None, jobs: int | None) -> Iterator[Executor]:
    """Yield what does the runs: processes of this machine, or a Ray cluster."""
    if ray is None:
        from paper.executor import Processes

        yield Processes(2 if jobs is None else jobs)
        return
    from bough.integrations.ray.connection import connected
    from paper.ray_runs import RayRuns

    with connected(address_of(ray)) as package:
        yield RayRuns(package, jobs)


def _print(console: Console, block: document.Block) -> None:
    """Print a table without the rows that are only cited, or the caption of a figure."""
    from paper import document

    if isinstance(block, document.Figure):
        console.print(Text(block.caption))
    if not isinstance(block, document.Table):
        return
    console.print(Text(f"\n{block.title}", style="bold"))
    groups: list[tuple[str, list[tuple[document.Cell, ...]]]] = [("", [])]  # a heading and its rows
    for row in block.rows:
        if len(row) == 1:
            groups.append((row[0].text, []))
        elif row[0].tone != "muted":
            groups[-1][1].append(row)
    for heading, rows in groups:
        if rows:
            table = Table(
                box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=heading or None, title_justify="left"
            )
            for name in block.header:
                table.add_column(name, overflow="fold")
            for row in rows:
                cells = [(f"{cell.text} {cell.verdict}".strip(), TONES.get(cell.tone, "")) for cell in row]
                table.add_row(*(Text(text, style=style) for text, style in cells))
            console.print(table)
    for note in block.notes:
        console.print(Text(note, style="dim"))


class _RunsDisplay:
    """A live view of all runs on a terminal, and a line for each that ends; elsewhere the lines alone."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(console=console, transient=True, refresh_per_second=4)
        self.shown: int | None = None  # events that have been printed

    def __enter__(self) -> _RunsDisplay:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.live.stop()

    def show(self, progress: PlanProgress) -> None:
        """Show the progress as it is now."""
        if self.shown is None:
            runs = "run" if progress.total == 1 else "runs"
            self._line(f"{progress.total} {runs}, {progress.skipped} done before")
        for event in progress.events[self.shown or 0 :]:
            self._line(f"[{progress.ended}/{progress.total}] {event}")
        self.shown = len(progress.events)
        if not self.console.is_terminal:
            return
        left = progress.time_left()
        counts = [f"{progress.done} done", f"{progress.skipped} before", f"{len(progress.failed)} failed"]
        counts.append(
            "time left unknown yet" if left is None else f"about {timedelta(seconds=round(left))} left"
        )
        view = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=progress.total or 1, completed=progress.ended, width=24)
        view.add_row(f"{progress.ended}/{progress.total} runs", bar, ", ".join(counts))
        for run, one in progress.running.items():
            view.add_row(run.name, ProgressBar(total=1.0, completed=one.share, width=24), str(one))
        self.live.update(view)

    def _line(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)


def fetch(
    *what: Literal["sst", "sick", "glove", "wordnet"],
    data: Path | None = None,
    source: Source = None,
    vectors: str = "840B",
) -> None:
    """Download SST, SICK, GloVe or WordNet into the data folder.

    They come from their official places, with checksums.

    Parameters
    ----------
    what
        sst, sick, glove, wordnet; the first three unless given.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    source
        Take local copies from this folder instead of the network.
    vectors
        Which GloVe set: 840B, 42B or 6B.
    """
    from paper.fetch import SICK, SST, WORDNET

    sets = {"sst": SST, "sick": SICK, "glove": glove_set(vectors), "wordnet": WORDNET}
    fetch_all([sets[name] for name in what or ("sst", "sick", "glove")], data, source)


def prepare(
    what: Literal["sst", "sick"],
    /,
    *,
    parser: str = "builtin",
    only: Literal["dependency", "constituency"] | None = None,
    data: Path | None = None,
    out: Path | None = None,
) -> None:
    """Parse SST or SICK for training.

    The sentences are as published, but the parses are not the paper's: train with `--set source=own`.

    Parameters
    ----------
    what
        sst (dependency trees; its phrase trees are published) or sick (both kinds).
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    only
        One kind of tree, for sick; a parser may know only one.
    data
        Folder with the published files; else BOUGH_DATA, else the user cache.
    out
        Data folder to write; the same one unless given.
    """
    from bough.text import get_parser
    from paper.prepare import Kind, prepare_sick, prepare_sst

    use_threads()
    if what == "sst" and only == "constituency":
        raise ValueError("the phrase trees of SST are published with it; --only is for sick")
    engine = get_parser(parser)
    console = Console(stderr=True)
    with ProgressBars(console) as bars:
        if what == "sst":
            files = prepare_sst(engine, data, out, tell=bars.update)
        else:
            kinds: list[Kind] = ["dependency", "constituency"] if only is None else [only]
            files = prepare_sick(engine, data, out, kinds=kinds, tell=bars.update)
    console.print(f"{what}: {len(files)} files by {engine.name}", highlight=False)
