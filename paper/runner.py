"""Do the runs of a part of the paper that are not done yet, and write the report."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bough.files import hold, read_json, write_text
from paper.document import Sections
from paper.neighbours import find_neighbours, stored_neighbours
from paper.plan import TABLE4_RUN, Run, planned, runs_for
from paper.report import update_readme, write_report
from paper.results import Result, collect, finished

if TYPE_CHECKING:
    from paper.ray_runs import RayRun

ENDED = 75
# The modules that every run needs. The fork server loads them once, so all runs of a command use the same code.
PRELOAD = ["torch", "scipy.stats", "paper.train", __name__]
Job = dict[str, Any]  # config, seed, recipe and data
POLL = 0.2  # seconds between two checks of the runs
# starts a job, given the run's folder and the file for its output
Start = Callable[[Job, Path, Path], "BaseProcess | RayRun"]


def start_process(job: Job, work: Path, log: Path) -> BaseProcess:
    """Start or continue the run in the folder `work`, in a process of one thread whose output goes to `log`.

    The process is forked from one that has loaded all modules; on Windows it is a new one.
    """
    context: Any = multiprocessing.get_context("spawn")
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOAD)
    arguments = (job, str(work.resolve()), str(log.resolve()))
    process: BaseProcess = context.Process(target=work_in_process, args=arguments)
    process.start()
    return process


def work_in_process(job: Job, work: str, log: str) -> None:
    """Do a job in this process. The last line of `log` is the error, if there is one.

    The process ends with the process that started it, even if that one is killed, so that no two
    processes ever write into one folder.
    """
    with open(log, "wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    starter = multiprocessing.parent_process()
    assert starter is not None

    def end_with_starter() -> None:
        starter.join()
        os._exit(ENDED)  # safe at any moment, because files are replaced atomically

    threading.Thread(target=end_with_starter, daemon=True).start()
    try:
        train_job(job, Path(work))
    except (ValueError, OSError) as error:
        sys.exit(" ".join(str(error).split()))


def train_job(job: Job, work: Path, **options: Any) -> None:
    """Train in this process with one thread. Continue where an earlier process stopped."""
    import torch

    from paper.config import PaperConfig
    from paper.train import train

    torch.set_num_threads(1)
    config = PaperConfig().with_settings(job["config"])
    train(config, work, seed=job["seed"], data=job["data"], recipe=job["recipe"], resume=True, **options)


class RunProgress(NamedTuple):
    """The progress of one run: epochs done, epochs in all, and the dev metric of the last one."""

    epoch: int
    epochs: int
    score: str = ""

    def __str__(self) -> str:
        return f"epoch {self.epoch} of {self.epochs}, dev {self.score}" if self.epoch else "starting"


@dataclass
class PlanProgress:
    """The progress of all runs, and the events so far."""

    total: int
    jobs: int = 1
    done: int = 0
    skipped: int = 0
    waiting: list[Run] = field(default_factory=list)
    running: dict[Run, RunProgress] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # name -> reason
    events: list[str] = field(default_factory=list)  # one line for each run that has ended
    seconds: list[float] = field(default_factory=list)  # of every finished run
    stored: list[str] = field(default_factory=list)  # for every run of earlier code, the version of bough
    missing: list[Run] = field(default_factory=list)  # not trained, because their rows are of earlier code

    @property
    def ended(self) -> int:
        """Return the number of runs that need no more time."""
        return self.done + self.skipped + len(self.failed)

    def time_left(self) -> float | None:
        """Estimate the seconds left from the mean of the finished runs."""
        if not self.seconds:
            return None
        left = len(self.waiting) + sum(1 - one.epoch / one.epochs for one in self.running.values())
        return left * statistics.fmean(self.seconds) / self.jobs

    @contextlib.contextmanager
    def failures_of(self, run: Run) -> Iterator[None]:
        """Record an error of one run, so that the others continue."""
        try:
            yield
        except (ValueError, OSError) as error:
            self.failed[run.name] = " ".join(str(error).split())
            self.events.append(f"{run.name}: failed, {self.failed[run.name]}")


Show = Callable[[PlanProgress], None]


def reproduce(
    part: str,
    *,
    out: Path,
    data: Path,
    seeds: int = 5,
    start: Start = start_process,
    jobs: Callable[[], int] = lambda: 2,
    overrides: Mapping[str, str] | None = None,
    readme: Sequence[Path] = (),
    again: bool = False,
    show: Show = lambda progress: None,
) -> tuple[Sections, dict[str, str]]:
    """Do the runs of `part` that are not done. Return the report's sections, and why runs failed.

    With `again`, runs of an earlier version of the code count as not done.
    """
    runs = runs_for(part, seeds, overrides)
    table4_run = planned(TABLE4_RUN, overrides)
    ranking = part in ("table4", "all") and not stored_neighbours(out, data, table4_run, earlier=not again)
    keep = [table4_run] if ranking else []
    _, failed = execute(runs, out, data, keep=keep, again=again, show=show, start=start, jobs=jobs)
    for run in keep:
        folder = kept_model(out, run, data)
        if folder is not None:  # None if the run has failed, which is reported
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
    keep: Collection[Run] = (),
    again: bool = False,
    show: Show = lambda progress: None,
    start: Start = start_process,
    jobs: Callable[[], int] = lambda: 2,
) -> tuple[list[Result], dict[str, str]]:
    """Do the runs that are not done yet. Return all results, and the runs that failed with the reasons.

    At most `jobs()` runs are at work at the same time; the number may change with the nodes of a
    cluster. `start` starts a run, by default in a process of this machine. The model of a run in
    `keep` is kept (see `kept_model`), and such a run is done again if only its model is missing.

    Stored runs of an earlier version of the code count as done, unless `again` is set. The missing
    runs of a system that has such runs are not done, so that no row mixes versions of the code.

    The folder `work/NAME` in `out` holds an unfinished run, its log, and the key of the run that it belongs to.
    """
    progress = PlanProgress(total=len(runs))
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
                result = finished(out, run, data, earlier=not again)
                if result is not None:
                    results[run] = result
                    progress.seconds.append(result["seconds"])
                if result is None or (run in keep and kept_model(out, run, data) is None):
                    progress.waiting.append(run)
                else:
                    progress.skipped += 1
                    # the folder is still there if the command was killed after it wrote the result
                    shutil.rmtree(out / "work" / run.name, ignore_errors=True)
        earlier = {run: one for run, one in results.items() if one["key"] != run.key(data)}
        progress.stored = [result["versions"]["bough"] for result in earlier.values()]
        systems = {run.system for run in earlier}
        progress.missing = [run for run in progress.waiting if run.system in systems and run not in results]
        progress.waiting = [run for run in progress.waiting if run not in progress.missing]
        progress.total -= len(progress.missing)
        _run_all(progress, start, jobs, out, data, keep, again, results, show)
    return list(results.values()), progress.failed


def _run_all(
    progress: PlanProgress,
    start: Start,
    jobs: Callable[[], int],
    out: Path,
    data: Path,
    keep: Collection[Run],
    again: bool,
    results: dict[Run, Result],
    show: Show,
) -> None:
    """Start waiting runs, watch running ones and collect their results, until none is left."""
    active: dict[Run, BaseProcess | RayRun] = {}
    try:
        while progress.waiting or active:
            progress.jobs = jobs()
            while progress.waiting and len(active) < progress.jobs:
                run = progress.waiting.pop(0)
                with progress.failures_of(run):
                    active[run] = _start(run, start, out, data)
                    # the recipe is read only here, because reading it takes longer than a check of a run
                    progress.running[run] = RunProgress(0, run.config().epochs)
            for run, started in list(active.items()):
                folder = out / "work" / run.name
                with progress.failures_of(run):
                    if (code := started.exitcode) is None:
                        progress.running[run] = _progress_of(folder / "run", progress.running[run].epochs)
                        continue
                    result = results[run] = _collected(run, code, out, data, run in keep, again)
                    progress.done += 1
                    progress.seconds.append(result["seconds"])
                    figures = {name: value for name, value in result["test"].items() if name != "loss"}
                    scores = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
                    progress.events.append(f"{run.name}: {scores}, {result['seconds']:.0f} s")
                del active[run], progress.running[run]
            show(progress)
            if active:
                time.sleep(POLL)
    finally:
        for started in active.values():  # they continue from their checkpoints next time
            started.terminate()
            started.join()
    show(progress)


def _collected(run: Run, code: int, out: Path, data: Path, keep: bool, again: bool) -> Result:
    """Return the result of an ended run, and clear its folder. Raise ValueError if it has failed."""
    folder, kept = out / "work" / run.name, out / "work" / "models" / run.name
    if code:
        log = folder / "log"
        lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
        raise ValueError(lines[-1] if lines else f"exit code {code}")
    result = finished(out, run, data, earlier=not again) or collect(out, run, folder / "run", data)
    if keep:
        shutil.rmtree(kept, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder.replace(kept)
    shutil.rmtree(folder, ignore_errors=True)
    return result


def _start(run: Run, start: Start, out: Path, data: Path) -> BaseProcess | RayRun:
    folder, key = out / "work" / run.name, run.key(data)
    if not (_is_of(folder, key) and (folder / "run" / "run.json").exists()):
        # the folder of another recipe, other data or code, or of a run that was killed before it started
        shutil.rmtree(folder, ignore_errors=True)
    write_text(folder / "key", key)
    job = {"config": run.config().as_dict(), "seed": run.seed, "recipe": run.recipe}
    return start({**job, "data": str(data.resolve())}, folder / "run", folder / "log")


def _progress_of(work: Path, epochs: int) -> RunProgress:
    """Return the last epoch that a run has finished, with its dev metric."""
    try:
        last = json.loads((work / "metrics.jsonl").read_text().splitlines()[-1])
    except (OSError, IndexError, json.JSONDecodeError):
        return RunProgress(0, epochs)
    name, value = next((name, value) for name, value in last.items() if name.startswith("dev_"))
    return RunProgress(last["epoch"], epochs, f"{name.removeprefix('dev_')} {value:.3f}")


def kept_model(out: Path, run: Run, data: Path) -> Path | None:
    """Return the folder of the model that `execute` kept of exactly this run, or None."""
    kept = out / "work" / "models" / run.name
    return kept / "run" if _is_of(kept, run.key(data)) and (kept / "run" / "test.json").exists() else None


def _is_of(folder: Path, key: str) -> bool:
    return (folder / "key").exists() and (folder / "key").read_text() == key
