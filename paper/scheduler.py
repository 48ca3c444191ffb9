"""Many runs, one after the other or side by side, until none is left; one sitting at a time in a folder."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bough.files import hold, write_text
from paper.executor import Executor, Started
from paper.plan import Run
from paper.progress import Board, Progress

POLL = 0.2
Show = Callable[[Board], None]
Result = dict[str, Any]


def work_off(
    board: Board,
    executor: Executor,
    out: Path,
    data: Path,
    gather: Callable[[Run], tuple[Result, str]],
    show: Show,
    *,
    more: dict[str, Any] | None = None,
) -> list[Result]:
    """Start what waits, look after what runs, and gather what ends, until nothing is left.

    `gather` turns the folder of a run that has ended well into its result and a few words about it; `more` goes to
    every worker.
    """
    results: list[Result] = []
    active: dict[Run, Started] = {}
    epochs: dict[Run, int] = {}  # read once: a recipe takes longer to read than a look at a run
    try:
        while board.waiting or active:
            board.jobs = executor.jobs
            while board.waiting and len(active) < board.jobs:
                run = board.waiting.pop(0)
                with reported(run, board):
                    epochs[run] = run.config().epochs
                    active[run] = _start(run, executor, out, data, more or {})
            for run, started in list(active.items()):
                with reported(run, board):
                    if started.running():
                        board.running[run] = _progress(work_folder(out, run), epochs[run])
                        continue
                    if (why := started.failure()) is not None:
                        raise ValueError(why)
                    result, said = gather(run)
                    results.append(result)
                    board.done += 1
                    board.took.setdefault(run.system, []).append(result["seconds"])
                    board.events.append(f"{run.name}: {said}, {result['seconds']:.0f} s")
                del active[run]
                board.running.pop(run, None)
            show(board)
            if active:
                time.sleep(POLL)
    finally:
        for started in active.values():  # they leave checkpoints, and go on from them next time
            started.stop()
    show(board)
    return results


@contextlib.contextmanager
def reported(run: Run, board: Board) -> Iterator[None]:
    """What is wrong with one run is written on the board, and is no reason to stop the others."""
    try:
        yield
    except (ValueError, OSError) as error:
        board.failed[run.name] = " ".join(str(error).split())
        board.events.append(f"{run.name}: failed, {board.failed[run.name]}")


@contextlib.contextmanager
def alone(out: Path, command: str) -> Iterator[None]:
    """One sitting at a time in a folder."""
    path = out / "work" / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        if not hold(file):
            raise ValueError(f"{out}: another `{command}` is running here; choose another --out")
        yield


def work_folder(out: Path, run: Run) -> Path:
    """Where a run works."""
    return out / "work" / run.name


def log_file(out: Path, run: Run) -> Path:
    """What its process says."""
    return out / "work" / f"{run.name}.log"


def key_file(folder: Path) -> Path:
    """Which run a folder belongs to."""
    return folder.with_name(f"{folder.name}.key")


def key_of(folder: Path) -> str:
    """The key in that file, if there is one."""
    file = key_file(folder)
    return file.read_text() if file.exists() else ""


def clear(out: Path, run: Run) -> None:
    """What a run that is finished has left in the working folder."""
    shutil.rmtree(work_folder(out, run), ignore_errors=True)
    key_file(work_folder(out, run)).unlink(missing_ok=True)
    log_file(out, run).unlink(missing_ok=True)


def _start(run: Run, executor: Executor, out: Path, data: Path, more: dict[str, Any]) -> Started:
    work, key = work_folder(out, run), run.key(data)
    if work.exists() and not (key_of(work) == key and (work / "run.json").exists()):
        shutil.rmtree(work)  # of another recipe, data or code, or killed before it had begun
    write_text(key_file(work), key)
    job = {"config": run.config().as_dict(), "seed": run.seed, "recipe": run.recipe}
    return executor.start({**job, "data": str(data.resolve()), **more}, work, log_file(out, run))


def _progress(work: Path, epochs: int) -> Progress:
    """The last epoch that a run has finished, and its dev figure."""
    try:
        last = json.loads((work / "metrics.jsonl").read_text().splitlines()[-1])
    except (OSError, IndexError, json.JSONDecodeError):
        return Progress(0, epochs)
    figures = [
        f"{key.removeprefix('dev_')} {value:.3f}" for key, value in last.items() if key.startswith("dev_")
    ]
    return Progress(last["epoch"], epochs, figures[0])
