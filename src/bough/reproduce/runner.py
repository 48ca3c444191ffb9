"""Runs side by side, each a process of one thread; what is done stays done, whatever happens next."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from bough.reproduce.board import Board, Progress
from bough.reproduce.plan import Run
from bough.reproduce.results import Result, collect, finished
from bough.reproduce.worker import processes
from bough.reproduce.worker import work as worker
from bough.storage import write_text

POLL = 0.2
Show = Callable[[Board], None]


def execute(
    runs: Sequence[Run],
    out: Path,
    data: Path,
    *,
    jobs: int = 2,
    keep: Collection[Run] = (),
    show: Show = lambda board: None,
) -> tuple[list[Result], dict[str, str]]:
    """Do the runs that are not done yet; all results, and the reasons of those that failed.

    A run in `keep` has its model kept (see `kept_model`), and is done again if only its model is missing.
    """
    if jobs < 1:
        raise ValueError(f"--jobs {jobs}: at least 1")
    board = Board(total=len(runs), jobs=jobs)
    results: list[Result] = []
    with _alone(out):
        for run in runs:
            with _reported(run, board):
                result = finished(out, run, data)
                if result is not None:
                    results.append(result)
                    board.took.setdefault(run.system, []).append(result["seconds"])
                if result is None or (run in keep and kept_model(out, run, data) is None):
                    board.waiting.append(run)
                else:
                    board.skipped += 1
                    shutil.rmtree(_work(out, run), ignore_errors=True)  # left by a kill after the result
        again = {(result["system"], result["seed"]) for result in results}
        new = _work_off(board, out, data, keep, show)
    return [
        *results,
        *(result for result in new if (result["system"], result["seed"]) not in again),
    ], board.failed


def kept_model(out: Path, run: Run, data: Path) -> Path | None:
    """The folder of the run's trained model, if `execute` kept it and it is of this very run."""
    folder = _models(out) / run.name
    return folder if (folder / "test.json").exists() and _key_of(folder) == run.key(data) else None


def _work_off(board: Board, out: Path, data: Path, keep: Collection[Run], show: Show) -> list[Result]:
    """Start what waits, look after what runs, and gather what ends, until nothing is left."""
    results: list[Result] = []
    active: dict[Run, BaseProcess] = {}
    try:
        while board.waiting or active:
            while board.waiting and len(active) < board.jobs:
                run = board.waiting.pop(0)
                with _reported(run, board):
                    active[run] = _start(run, out, data)
            for run, process in list(active.items()):
                if process.is_alive():
                    board.running[run] = _progress(_work(out, run), run.config().epochs)
                    continue
                del active[run]
                board.running.pop(run, None)
                with _reported(run, board):
                    if process.exitcode:
                        raise ValueError(_reason(_log(out, run), process.exitcode))
                    result = _gathered(run, out, data, run in keep)
                    results.append(result)
                    board.done += 1
                    board.took.setdefault(run.system, []).append(result["seconds"])
                    board.events.append(f"{run.name}: {_said(result)}, {result['seconds']:.0f} s")
            show(board)
            if active:
                time.sleep(POLL)
    finally:
        for process in active.values():  # they leave checkpoints, and go on from them next time
            process.terminate()
            process.join()
    show(board)
    return results


@contextlib.contextmanager
def _reported(run: Run, board: Board) -> Iterator[None]:
    """What is wrong with one run is written on the board, and does not stop the others."""
    try:
        yield
    except (ValueError, OSError) as error:
        board.failed[run.name] = " ".join(str(error).split())
        board.events.append(f"{run.name}: failed, {board.failed[run.name]}")


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One sitting at a time in a folder; the system takes the lock back from whoever dies."""
    path = out / "work" / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # a system without such locks: there it is left to the user
            pass
        except OSError:
            raise ValueError(
                f"{out}: another `bough reproduce` is running here; choose another --out"
            ) from None
        yield


def _start(run: Run, out: Path, data: Path) -> BaseProcess:
    work, key = _work(out, run), run.key(data)
    if work.exists() and not (_key_of(work) == key and (work / "run.json").exists()):
        shutil.rmtree(work)  # of another recipe, data or code, or killed before it had begun
    write_text(_key_file(work), key)
    job = {"config": run.config().as_dict(), "seed": run.seed, "recipe": run.recipe}
    job |= {"out": str(work.resolve()), "data": str(data.resolve())}
    process: BaseProcess = processes().Process(target=worker, args=(job, str(_log(out, run).resolve())))
    process.start()
    return process


def _gathered(run: Run, out: Path, data: Path, keep: bool) -> Result:
    """The result file of a run that has just ended; its folder goes, or moves to the kept models."""
    work = _work(out, run)
    result = finished(out, run, data) or collect(out, run, work, data)
    if keep:
        folder = _models(out) / run.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        write_text(_key_file(folder), run.key(data))
        work.replace(folder)
    else:
        shutil.rmtree(work)
    _key_file(work).unlink()
    _log(out, run).unlink()
    return result


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


def _said(result: Result) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in result["test"].items() if name != "loss")


def _reason(log: Path, code: int) -> str:
    """The last line that a failed run wrote."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"exit code {code}"


def _key_of(folder: Path) -> str:
    file = _key_file(folder)
    return file.read_text() if file.exists() else ""


def _key_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.key")


def _work(out: Path, run: Run) -> Path:
    return out / "work" / run.name


def _log(out: Path, run: Run) -> Path:
    return out / "work" / f"{run.name}.log"


def _models(out: Path) -> Path:
    return out / "work" / "models"
