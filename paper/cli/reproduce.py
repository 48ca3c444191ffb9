"""`python -m paper reproduce`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bough.cli.cluster import Ray, address_of
from bough.cli.console import complain, plain_console
from bough.cli.settings import parse_settings
from paper.cli.display import Display

if TYPE_CHECKING:
    from paper import document
    from paper.executor import Executor

Part = Literal["table1", "table2", "table3", "table4", "figure3", "figure4", "claims", "all", "beyond"]
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


def reproduce(
    what: Part,
    /,
    *,
    seeds: int = 5,
    jobs: int | None = None,
    out: Path = Path(__file__).parents[1] / "results",
    data: Path | None = None,
    settings: Annotated[list[str], Parameter(name="--set", negative="")] = [],  # noqa: B006
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
        Folder for results and report; an interrupted sitting resumes from it.
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
    from paper.reproduce import reproduce as run

    folder, console = find_data(data), Console()
    with executor_for(ray, jobs) as executor, Display(console) as display:
        sections, failed = run(
            what,
            seeds=seeds,
            executor=executor,
            out=out,
            data=folder,
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
def executor_for(ray: list[str] | None, jobs: int | None) -> Iterator[Executor]:
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
    """A table as a table; of the rest what a terminal can show."""
    from paper import document

    if isinstance(block, document.Figure):
        console.print(Text(block.caption))
    elif isinstance(block, document.Table):
        console.print(Text(f"\n{block.title}", style="bold"))
        for heading, rows in _groups(block):
            if heading:
                console.print(Text(f"\n{heading}"))
            table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for name in block.header:
                table.add_column(name, overflow="fold")
            for row in rows:
                table.add_row(*(_shown(cell) for cell in row))
            console.print(table)
        for note in block.notes:
            console.print(Text(note, style="dim"))


def _groups(table: document.Table) -> list[tuple[str, list[tuple[document.Cell, ...]]]]:
    """The rows under each heading; the report alone has those that are only cited."""
    groups: list[tuple[str, list[tuple[document.Cell, ...]]]] = [("", [])]
    for row in table.rows:
        if len(row) == 1:
            groups.append((row[0].text, []))
        elif row[0].tone != "muted":
            groups[-1][1].append(row)
    return [(heading, rows) for heading, rows in groups if rows]


def _shown(cell: document.Cell) -> Text:
    return Text(f"{cell.text} {cell.verdict}".strip(), style=TONES.get(cell.tone, ""))
