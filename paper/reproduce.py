"""One call for one part of the paper, or all of it: the runs, Table 4's ranking, the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bough.files import read_json
from paper.document import Section
from paper.executor import Executor
from paper.neighbours import find_neighbours, stored_neighbours
from paper.plan import TABLE4_RUN, runs_for
from paper.progress import Board
from paper.readme import update_readme
from paper.report import write_report
from paper.runner import execute, kept_model
from paper.scheduler import Show


def reproduce(
    part: str,
    *,
    out: Path,
    data: Path,
    seeds: int = 5,
    jobs: int = 2,
    executor: Executor | None = None,
    overrides: Mapping[str, str] | None = None,
    readme: Sequence[Path] = (),
    show: Show = lambda board: None,
) -> tuple[list[Section], dict[str, str]]:
    """Do the runs of `part` that are not done yet and write the report; its sections, and what failed and why."""
    runs = runs_for(part, seeds, overrides)
    run = next((run for run in runs if (run.recipe, run.seed, run.settings) == TABLE4_IDENTITY), None)
    ranking = run is not None and part in ("table4", "all") and stored_neighbours(out, data, run) is None
    keep = [run] if run is not None and ranking else []
    if runs:
        _, failed = execute(runs, out, data, jobs=jobs, keep=keep, show=show, executor=executor)
    else:
        failed = {}
        show(Board(total=0))
    for run in keep:
        folder = kept_model(out, run, data)
        if folder is not None:  # else the run has failed, and that is reported
            find_neighbours(out, folder, data, run)
    sections = write_report(out, data, overrides)
    for file in readme:
        update_readme(file, read_json(out / "results.json"))
    return sections, failed


TABLE4_IDENTITY = (TABLE4_RUN.recipe, TABLE4_RUN.seed, TABLE4_RUN.settings)
