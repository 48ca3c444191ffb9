"""Start runs in processes of this machine; any other class with the methods of `Executor` can take their place."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

ENDED = 75
# What every run needs. The fork server loads it once, so all runs of a command are of the same code.
PRELOAD = ["torch", "scipy.stats", "paper.train", __name__]
Job = dict[str, Any]  # what `work` takes: config, seed, recipe, data and out


class Started(Protocol):
    """A run that was started; its folder is filled as it goes on."""

    def running(self) -> bool:
        """Return whether it is still at work."""

    def failure(self) -> str | None:
        """Return why a run that has ended failed, or None."""

    def stop(self) -> None:
        """End it now; what it has stored stays."""


class Executor(Protocol):
    """Starts runs, some at a time."""

    @property
    def jobs(self) -> int:
        """Return how many runs may be at work at the same time now."""

    def start(self, job: Job, work: Path, log: Path) -> Started:
        """Begin or continue the run whose folder is `work`; its output goes to `log`."""


class Processes:
    """Processes of this machine, of one thread each."""

    def __init__(self, jobs: int = 2) -> None:
        if jobs < 1:
            raise ValueError(f"--jobs {jobs}: at least 1")
        self.jobs = jobs

    def start(self, job: Job, work: Path, log: Path) -> LocalRun:
        """Fork a process from one that has loaded all it needs."""
        process: BaseProcess = process_context().Process(
            target=work_in_process, args=({**job, "out": str(work.resolve())}, str(log.resolve()))
        )
        process.start()
        return LocalRun(process, log)


class LocalRun:
    """A run in a process of its own."""

    def __init__(self, process: BaseProcess, log: Path) -> None:
        self.process, self.log = process, log

    def running(self) -> bool:
        """Return whether the process lives."""
        return self.process.is_alive()

    def failure(self) -> str | None:
        """Return the last line that it wrote, if it ended with an error."""
        if not self.process.exitcode:
            return None
        lines = self.log.read_text(errors="replace").split("\n") if self.log.exists() else []
        return next(
            (line.strip() for line in reversed(lines) if line.strip()), f"exit code {self.process.exitcode}"
        )

    def stop(self) -> None:
        """Terminate the process. It leaves a checkpoint, and goes on from it next time."""
        self.process.terminate()
        self.process.join()


def process_context() -> Any:
    """Return the multiprocessing context: a fork server, or on Windows new processes."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    return context


def work_in_process(job: Job, log: str) -> None:
    """Train, going on from where an earlier process stopped; an error is one line, the last, in `log`.

    The process ends with the one that started it, whatever kills that one. So no run goes on unseen, and no two
    processes write into one folder.
    """
    with open(log, "wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    starter = multiprocessing.parent_process()
    assert starter is not None

    def end_with_starter() -> None:
        starter.join()
        os._exit(ENDED)  # files are written whole or not at all, so any moment is as good as another

    threading.Thread(target=end_with_starter, daemon=True).start()
    import torch

    from paper.config import PaperConfig
    from paper.train import train

    torch.set_num_threads(1)
    config = PaperConfig().with_settings(job["config"])
    try:
        train(config, Path(job["out"]), seed=job["seed"], data=job["data"], resume=True, recipe=job["recipe"])
    except (ValueError, OSError) as error:
        sys.exit(" ".join(str(error).split()))
