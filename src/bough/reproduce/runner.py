"""Runs side by side, each a process of one thread; what is done stays done, whatever happens next."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bough.reproduce.plan import Run
from bough.reproduce.results import Result, collect, finished

POLL = 0.5


@dataclass
class Board:
    """The state of the whole, for a display."""

    total: int
    done: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)  # name -> how far
    seconds: list[float] = field(default_factory=list)  # that the runs of this sitting took
    jobs: int = 1

    def time_left(self) -> float | None:
        """A guess, in seconds, once a run has ended."""
        waiting = self.total - self.skipped - self.done - len(self.failed)
        return sum(self.seconds) / len(self.seconds) * waiting / self.jobs if self.seconds else None


def execute(
    runs: Sequence[Run],
    out: Path,
    data: Path,
    *,
    jobs: int = 2,
    show: Callable[[Board], None] = lambda board: None,
) -> tuple[list[Result], dict[str, str]]:
    """Do the runs that are not done yet; all results, and the reasons of those that failed."""
    if jobs < 1:
        raise ValueError(f"--jobs {jobs}: at least 1")
    board = Board(total=len(runs), jobs=jobs)
    results, waiting = [], []
    for run in runs:
        result = finished(out, run, data)
        if result is None:
            waiting.append(run)
        else:
            results.append(result)
            board.skipped += 1
    active: dict[Run, tuple[subprocess.Popen[bytes], float]] = {}
    waiting.reverse()
    try:
        while waiting or active:
            while waiting and len(active) < jobs:
                run = waiting.pop()
                active[run] = (_start(run, out, data), time.perf_counter())
            for run, (process, started) in list(active.items()):
                if process.poll() is None:
                    board.running[run.name] = _how_far(_work(out, run))
                    continue
                del active[run]
                board.running.pop(run.name, None)
                if process.returncode == 0:
                    results.append(collect(out, run, _work(out, run), data))
                    shutil.rmtree(_work(out, run))
                    board.done += 1
                    board.seconds.append(time.perf_counter() - started)
                else:
                    board.failed[run.name] = _reason(_log(out, run), process.returncode)
            show(board)
            time.sleep(POLL)
    finally:
        for process, _ in active.values():  # they leave checkpoints, and go on from them next time
            process.terminate()
            process.wait()
    return results, board.failed


def _work(out: Path, run: Run) -> Path:
    return out / "work" / run.name


def _log(out: Path, run: Run) -> Path:
    return out / "work" / f"{run.name}.log"


def _start(run: Run, out: Path, data: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bough", "train", run.recipe, "--seed", str(run.seed), "--resume"]
    command += ["--out", str(_work(out, run)), "--data", str(data)]
    command += [part for key, value in run.settings for part in ("--set", f"{key}={value}")]
    _log(out, run).parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with open(_log(out, run), "wb") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
        )


def _how_far(work: Path) -> str:
    """The last epoch that a run has finished, and its dev figures."""
    try:
        last = json.loads((work / "metrics.jsonl").read_text().splitlines()[-1])
    except (OSError, IndexError, json.JSONDecodeError):
        return "starting"
    figures = [f"{key.removeprefix('dev_')} {value:.3f}" for key, value in last.items() if key.startswith("dev_")]
    return f"epoch {last['epoch']}, dev {figures[0]}"


def _reason(log: Path, code: int) -> str:
    """The last line that a failed run wrote."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"exit code {code}"
