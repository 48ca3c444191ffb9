"""Run the experiments of a part of the paper: those that are not done yet, some at a time, then the report."""

from __future__ import annotations

import contextlib
import json
import shutil
import statistics
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bough.files import hold, read_json, write_text
from paper.document import Section
from paper.executor import Executor, Processes, Started
from paper.neighbours import find_neighbours, stored_neighbours
from paper.plan import TABLE4_RUN, Run, planned, runs_for
from paper.readme import update_readme
from paper.report import write_report
from paper.results import Result, collect, finished

POLL = 0.2  # seconds between two looks at the runs


# ------------------------------------------------------------------------------ progress


@dataclass(frozen=True)
class RunProgress:
    """One run: epochs done, of how many, and the dev figure of the last one."""

    epoch: int
    epochs: int
    score: str = ""

    @property
    def share(self) -> float:
        """Return the share that is done, from 0 to 1."""
        return self.epoch / self.epochs

    def __str__(self) -> str:
        return f"epoch {self.epoch} of {self.epochs}, dev {self.score}" if self.epoch else "starting"


@dataclass
class PlanProgress:
    """Record how far all runs are, and the events so far."""

    total: int
    jobs: int = 1
    done: int = 0
    skipped: int = 0
    waiting: list[Run] = field(default_factory=list)
    running: dict[Run, RunProgress] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # name -> why
    events: list[str] = field(default_factory=list)  # a line for each run that has ended
    took: dict[str, list[float]] = field(default_factory=dict)  # system -> seconds of its runs

    @property
    def ended(self) -> int:
        """Return the number of runs that need no more time."""
        return self.done + self.skipped + len(self.failed)

    def time_left(self) -> float | None:
        """Guess the seconds left: a run takes as long as its system's other seeds, else as its task's runs."""
        if not self.took:
            return None

        def expected(run: Run) -> float:
            task = run.recipe.split("-")[0]
            alike = [
                times for name, times in self.took.items() if name.startswith(task)
            ] or self.took.values()
            return statistics.fmean(self.took.get(run.system) or [s for times in alike for s in times])

        left = sum(expected(run) for run in self.waiting)
        left += sum(expected(run) * (1 - progress.share) for run, progress in self.running.items())
        return left / self.jobs

    @contextlib.contextmanager
    def failures_of(self, run: Run) -> Iterator[None]:
        """Note what is wrong with one run; it is no reason to stop the others."""
        try:
            yield
        except (ValueError, OSError) as error:
            self.failed[run.name] = " ".join(str(error).split())
            self.events.append(f"{run.name}: failed, {self.failed[run.name]}")


Show = Callable[[PlanProgress], None]


# ---------------------------------------------------------------------------------- runs


def reproduce(
    part: str,
    *,
    out: Path,
    data: Path,
    seeds: int = 5,
    executor: Executor | None = None,
    overrides: Mapping[str, str] | None = None,
    readme: Sequence[Path] = (),
    show: Show = lambda progress: None,
) -> tuple[list[Section], dict[str, str]]:
    """Do the runs of `part` that are not done yet and write the report.

    Return the report's sections, and the runs that failed with the reasons.
    """
    runs = runs_for(part, seeds, overrides)
    table4_run = planned(TABLE4_RUN, overrides)
    ranking = part in ("table4", "all") and stored_neighbours(out, data, table4_run) is None
    keep = [table4_run] if ranking else []
    _, failed = execute(runs, out, data, keep=keep, show=show, executor=executor)
    for run in keep:
        folder = kept_model(out, run, data)
        if folder is not None:  # else the run has failed, and that is reported
            find_neighbours(out, folder, data, run)
    sections = write_report(out, data, overrides)
    for file in readme:
        update_readme(file, read_json(out / "results.json"))
    return sections, failed


def execute(
    runs: Sequence[Run],
    out: Path,
    data: Path,
    *,
    jobs: int = 2,
    keep: Collection[Run] = (),
    show: Show = lambda progress: None,
    executor: Executor | None = None,
) -> tuple[list[Result], dict[str, str]]:
    """Do the runs that are not done yet. Return all results, and the runs that failed with the reasons.

    They are processes of this machine, `jobs` at a time, unless another `executor` is given. A run in `keep` has its
    model kept (see `kept_model`), and is done again if only its model is missing.
    """
    executor = executor or Processes(jobs)
    progress = PlanProgress(total=len(runs), jobs=executor.jobs)
    results: dict[Run, Result] = {}
    lock = out / "work" / "lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        if not hold(file):
            raise ValueError(
                f"{out}: another `python -m paper reproduce` is running here; choose another --out"
            )
        for run in runs:
            with progress.failures_of(run):
                result = finished(out, run, data)
                if result is not None:
                    results[run] = result
                    progress.took.setdefault(run.system, []).append(result["seconds"])
                if result is None or (run in keep and kept_model(out, run, data) is None):
                    progress.waiting.append(run)
                else:
                    progress.skipped += 1
                    _clear(_work_folder(out, run))  # a kill after the result may have left it
        _run_all(progress, executor, out, data, keep, results, show)
    return list(results.values()), progress.failed


def _run_all(
    progress: PlanProgress,
    executor: Executor,
    out: Path,
    data: Path,
    keep: Collection[Run],
    results: dict[Run, Result],
    show: Show,
) -> None:
    """Start what waits, look after what runs, and collect what ends, until nothing is left."""
    active: dict[Run, Started] = {}
    epochs: dict[Run, int] = {}  # read once: a recipe takes longer to read than a look at a run
    try:
        while progress.waiting or active:
            progress.jobs = executor.jobs
            while progress.waiting and len(active) < progress.jobs:
                run = progress.waiting.pop(0)
                with progress.failures_of(run):
                    epochs[run] = run.config().epochs
                    active[run] = _start(run, executor, out, data)
            for run, started in list(active.items()):
                with progress.failures_of(run):
                    if started.running():
                        progress.running[run] = _progress_of(_work_folder(out, run), epochs[run])
                        continue
                    if (why := started.failure()) is not None:
                        raise ValueError(why)
                    result = results[run] = _collect(run, out, data, run in keep)
                    progress.done += 1
                    progress.took.setdefault(run.system, []).append(result["seconds"])
                    scores = [
                        f"{name} {value:.4f}" for name, value in result["test"].items() if name != "loss"
                    ]
                    progress.events.append(f"{run.name}: {', '.join(scores)}, {result['seconds']:.0f} s")
                del active[run]
                progress.running.pop(run, None)
            show(progress)
            if active:
                time.sleep(POLL)
    finally:
        for started in active.values():  # they leave checkpoints, and go on from them next time
            started.stop()
    show(progress)


def kept_model(out: Path, run: Run, data: Path) -> Path | None:
    """Return the folder of the run's trained model, if `execute` kept it and it is of this very run."""
    folder = out / "work" / "models" / run.name
    return folder if (folder / "test.json").exists() and _key_of(folder) == run.key(data) else None


def _start(run: Run, executor: Executor, out: Path, data: Path) -> Started:
    work, key = _work_folder(out, run), run.key(data)
    if work.exists() and not (_key_of(work) == key and (work / "run.json").exists()):
        shutil.rmtree(work)  # of another recipe, data or code, or killed before it had begun
    write_text(_beside(work, "key"), key)
    job = {
        "config": run.config().as_dict(),
        "seed": run.seed,
        "recipe": run.recipe,
        "data": str(data.resolve()),
    }
    return executor.start(job, work, _beside(work, "log"))


def _progress_of(work: Path, epochs: int) -> RunProgress:
    """Read the last epoch that a run has finished, and its dev figure."""
    try:
        last = json.loads((work / "metrics.jsonl").read_text().splitlines()[-1])
    except (OSError, IndexError, json.JSONDecodeError):
        return RunProgress(0, epochs)
    name, value = next((name, value) for name, value in last.items() if name.startswith("dev_"))
    return RunProgress(last["epoch"], epochs, f"{name.removeprefix('dev_')} {value:.3f}")


def _collect(run: Run, out: Path, data: Path, keep: bool) -> Result:
    """Write the result file of a run that has just ended; its folder goes, or moves to the kept models."""
    work = _work_folder(out, run)
    result = finished(out, run, data) or collect(out, run, work, data)
    if keep:
        folder = out / "work" / "models" / run.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        write_text(_beside(folder, "key"), run.key(data))
        work.replace(folder)
    _clear(work)
    return result


def _work_folder(out: Path, run: Run) -> Path:
    return out / "work" / run.name


def _beside(folder: Path, ending: str) -> Path:
    """Return a file beside a run's folder: `key` says which run it belongs to, `log` is its output."""
    return folder.with_name(f"{folder.name}.{ending}")


def _key_of(folder: Path) -> str:
    file = _beside(folder, "key")
    return file.read_text() if file.exists() else ""


def _clear(work: Path) -> None:
    """Remove what a finished run has left in the working folder."""
    shutil.rmtree(work, ignore_errors=True)
    for ending in ("key", "log"):
        _beside(work, ending).unlink(missing_ok=True)
