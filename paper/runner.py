"""The runs of a plan, wherever they are done; what is done stays done, whatever happens next."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from bough.files import write_text
from paper.executor import Executor, Processes
from paper.plan import Run
from paper.progress import Board
from paper.results import Result, collect, finished
from paper.scheduler import Show, alone, clear, key_file, key_of, reported, work_folder, work_off


def execute(
    runs: Sequence[Run],
    out: Path,
    data: Path,
    *,
    jobs: int = 2,
    keep: Collection[Run] = (),
    show: Show = lambda board: None,
    executor: Executor | None = None,
) -> tuple[list[Result], dict[str, str]]:
    """Do the runs that are not done yet; all results, and the reasons of those that failed.

    They are processes of this machine, `jobs` at a time, unless another `executor` is given. A run in `keep` has its
    model kept (see `kept_model`), and is done again if only its model is missing.
    """
    executor = executor or Processes(jobs)
    board = Board(total=len(runs), jobs=executor.jobs)
    results: list[Result] = []
    with alone(out, "python -m paper reproduce"):
        for run in runs:
            with reported(run, board):
                result = finished(out, run, data)
                if result is not None:
                    results.append(result)
                    board.took.setdefault(run.system, []).append(result["seconds"])
                if result is None or (run in keep and kept_model(out, run, data) is None):
                    board.waiting.append(run)
                else:
                    board.skipped += 1
                    shutil.rmtree(
                        work_folder(out, run), ignore_errors=True
                    )  # left by a kill after the result
        again = {(result["system"], result["seed"]) for result in results}

        def gather(run: Run) -> tuple[Result, str]:
            result = _gathered(run, out, data, run in keep)
            return result, _said(result)

        new = work_off(board, executor, out, data, gather, show)
    return [
        *results,
        *(result for result in new if (result["system"], result["seed"]) not in again),
    ], board.failed


def kept_model(out: Path, run: Run, data: Path) -> Path | None:
    """The folder of the run's trained model, if `execute` kept it and it is of this very run."""
    folder = _models(out) / run.name
    return folder if (folder / "test.json").exists() and key_of(folder) == run.key(data) else None


def _gathered(run: Run, out: Path, data: Path, keep: bool) -> Result:
    """The result file of a run that has just ended; its folder goes, or moves to the kept models."""
    work = work_folder(out, run)
    result = finished(out, run, data) or collect(out, run, work, data)
    if keep:
        folder = _models(out) / run.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        write_text(key_file(folder), run.key(data))
        work.replace(folder)
    clear(out, run)
    return result


def _said(result: Result) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in result["test"].items() if name != "loss")


def _models(out: Path) -> Path:
    return out / "work" / "models"
