"""`bough tune`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from bough.cli.cluster import Ray, executor_for
from bough.cli.console import complain, plain_console
from bough.cli.display import Display
from bough.cli.settings import parse_settings

if TYPE_CHECKING:
    from bough.cluster.sweep import Row, Sweep


def tune(
    recipe: str,
    /,
    *,
    tries: Annotated[list[str], Parameter(name="--try", negative="")],
    seeds: int = 3,
    jobs: int | None = None,
    out: Path | None = None,
    data: Path | None = None,
    settings: Annotated[list[str], Parameter(name="--set", negative="")] = [],  # noqa: B006
    asha: bool = True,
    ray: Ray = None,
) -> None:
    """Try settings of a recipe, judged on dev alone.

    Every combination is trained with each seed. The test split is never read; what is done is not done again.

    Parameters
    ----------
    recipe
        A recipe's name (see `bough recipes`), or a TOML file of your own.
    tries
        key=a,b,c: the values of a setting; may be repeated.
    seeds
        Runs of each combination.
    jobs
        Runs at a time, each a process of one thread; 2 unless given, or with --ray all processors.
    out
        Folder for the results; runs/tune-RECIPE unless given.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    settings
        key=value over the recipe for all runs; may be repeated.
    asha
        With --ray: stop combinations early that lag behind with their first seed; they get no other.
    ray
        On a Ray cluster: at this address, else RAY_ADDRESS, else this machine's processors.
    """
    from bough.cluster.sweep import Sweep
    from bough.cluster.sweep import tune as run
    from bough.data import find_data

    name = Path(recipe).name.removesuffix(".toml")
    sweep = Sweep(
        recipe,
        _values(tries),
        seeds,
        tuple(parse_settings(settings).items()),
        out or Path("runs") / f"tune-{name}",
        find_data(data),
    )
    console = Console()
    with executor_for(ray, jobs) as executor, Display(console) as display:
        first = None
        if ray is not None and asha:
            from bough.cluster.asha import by_asha

            first = by_asha(display.show, jobs)
        rows, failed = run(sweep, executor, first=first, show=display.show)
    if rows:
        console.print(_table(sweep, rows))
        plain_console().print(f"train the best: {rows[0].command}")
    if failed:
        lines = "".join(f"\n  {name}: {why}" for name, why in failed.items())
        complain(f"{len(failed)} run{'s' if len(failed) > 1 else ''} failed{lines}")
        sys.exit(1)


def _values(tries: list[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, tuple[str, ...]] = {}
    for text in tries:
        key, equals, values = text.partition("=")
        parts = tuple(dict.fromkeys(value.strip() for value in values.split(",")))
        if not equals or not all(parts):
            raise ValueError(f"--try {text}: key=a,b,c wanted")
        if key in found:
            raise ValueError(f"--try {text}: {key} has its values already; give all of them at once")
        found[key] = parts
    return tuple(found.items())


def _table(sweep: Sweep, rows: list[Row]) -> Table:
    figure = sweep.figure
    table = Table(title=f"{sweep.recipe}: dev {figure.name}, {'least' if figure.least else 'greatest'} first")
    for key, _ in sweep.tries:
        table.add_column(key)
    for heading in ("mean", "sd", "seeds", "epochs chosen"):
        table.add_column(heading, justify="right")
    for row in rows:
        given_up = f", stopped after {row.stopped}" if row.stopped is not None else ""
        epochs = ", ".join(map(str, row.epochs)) + given_up
        cells = (
            f"{row.mean:.4f}",
            f"{row.sd:.4f}" if len(row.values) > 1 else "-",
            str(len(row.values)),
            epochs,
        )
        table.add_row(*(value for _, value in row.settings), *cells)
    return table
