"""Where runs are done: processes of this machine here, and whatever else keeps to the same few words."""

from __future__ import annotations

from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from paper.worker import processes
from paper.worker import work as worker

Job = dict[str, Any]  # what `worker.work` takes


class Started(Protocol):
    """A run that was started; its folder is filled as it goes on."""

    def running(self) -> bool:
        """Whether it is still at work."""

    def failure(self) -> str | None:
        """Of one that has ended: why it failed, if it did."""

    def stop(self) -> None:
        """End it now; what it has stored stays."""


class Executor(Protocol):
    """Starts runs, some at a time."""

    @property
    def jobs(self) -> int:
        """How many at a time, as things stand now."""

    def start(self, job: Job, work: Path, log: Path) -> Started:
        """Begin or continue the run whose folder is `work`; `log` is for what it says."""


class Processes:
    """Processes of this machine, of one thread each."""

    def __init__(self, jobs: int = 2) -> None:
        if jobs < 1:
            raise ValueError(f"--jobs {jobs}: at least 1")
        self.jobs = jobs

    def start(self, job: Job, work: Path, log: Path) -> LocalRun:
        """A process, forked from one that has loaded all it needs."""
        process: BaseProcess = processes().Process(
            target=worker, args=({**job, "out": str(work.resolve())}, str(log.resolve()))
        )
        process.start()
        return LocalRun(process, log)


class LocalRun:
    """A run in a process of its own."""

    def __init__(self, process: BaseProcess, log: Path) -> None:
        self.process, self.log = process, log

    def running(self) -> bool:
        """Whether the process lives."""
        return self.process.is_alive()

    def failure(self) -> str | None:
        """The last line that it wrote, if it ended with an error."""
        return reason(self.log, self.process.exitcode) if self.process.exitcode else None

    def stop(self) -> None:
        """It leaves a checkpoint, and goes on from it next time."""
        self.process.terminate()
        self.process.join()


def reason(log: Path, code: int | None) -> str:
    """The last line that a failed run wrote."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    said = [line for line in lines if line.strip()]
    return said[-1].strip() if said else f"exit code {code}"
