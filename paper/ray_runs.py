"""Run the plan on a Ray cluster: each run is a task of one processor.

A run works in a folder of its own node, so that two never write into one, and the task streams the files that change to
this machine. If its node dies, the run continues elsewhere from what is here; so it does if this process is killed.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from bough.files import replacing, torn_files
from bough.integrations.ray.connection import processors
from bough.version import __version__
from paper.executor import Job, Processes

LOOK = 1.0  # seconds between two looks at a run
TRIES = 3  # starts without a finished epoch, after which a run is given up
log = logging.getLogger(__name__)


class State(NamedTuple):
    """Hold the state of a run on a node: the contents of its changed files, and the names of all files."""

    running: bool
    failure: str | None
    changed: dict[str, bytes]
    names: set[str]


def train(job: Job, files: Mapping[str, bytes], version: str) -> Iterator[State]:
    """On a node: continue a run from its files in a process, and yield its state whenever files change."""
    if version != __version__:
        yield State(False, f"a node has bough {__version__}, not {version}", {}, set(files))
        return
    with tempfile.TemporaryDirectory(prefix="bough-run-") as folder:
        work = Path(folder, "run")
        write_files(work, files)
        run = Processes(1).start(job, work, Path(folder, "log"))
        known: dict[str, tuple[int, int]] = {}
        try:
            running = True
            while running:
                running = run.running()  # before the files: what it wrote before it ended is then all here
                stamps = stamps_of(work)
                changed = {
                    name: (work / name).read_bytes() for name in stamps if stamps[name] != known.get(name)
                }
                if changed or stamps.keys() != known.keys() or not running:
                    yield State(running, None if running else run.failure(), changed, set(stamps))
                known = stamps
                time.sleep(LOOK if running else 0)
        finally:
            run.stop()


class RayRun:
    """A run on some node, and on another if that one dies."""

    def __init__(self, ray: ModuleType, job: Job, work: Path) -> None:
        self.ray: Any = ray
        self.job, self.work = job, work
        self.starts = 0
        self.ended: str | None = None
        self._start()

    def _start(self) -> None:
        self.starts += 1
        files = {name: (self.work / name).read_bytes() for name in stamps_of(self.work)}
        # no retries by Ray: they would begin with these files again
        task = self.ray.remote(num_cpus=1, max_retries=0)(train)
        self.states = task.remote(self.job, files, __version__)

    def running(self) -> bool:
        """Copy the changed files here; return whether the run is at work or waits for a processor."""
        while self.ray.wait([self.states], timeout=0)[0]:
            try:
                state: State = self.ray.get(next(self.states))
            except (self.ray.exceptions.RayError, StopIteration) as error:
                reason = " ".join(str(error).split())[:200]
                if self.starts >= TRIES:
                    self.ended = f"lost {TRIES} times without an epoch done: {reason}"
                    return False
                log.warning("%s was lost with its node; it continues on another", self.work.name)
                self._start()
                return True
            if "metrics.jsonl" in state.changed:  # an epoch is done
                self.starts = 1
            write_files(self.work, state.changed)
            for name in stamps_of(self.work).keys() - state.names:
                (self.work / name).unlink()
            if not state.running:
                self.ended = state.failure
                return False
        return True

    def failure(self) -> str | None:
        """Return the last line of the run's log if it ended with an error."""
        return self.ended

    def stop(self) -> None:
        """Stop the run; what has come here stays."""
        self.ray.cancel(self.states)


class RayRuns:
    """An executor of runs: as many at a time as the cluster has processors, at most `most`."""

    def __init__(self, ray: ModuleType, most: int | None = None) -> None:
        if most is not None and most < 1:
            raise ValueError(f"--jobs {most}: at least 1")
        self.ray, self.most = ray, most

    @property
    def jobs(self) -> int:
        """The number of runs at a time, as nodes come and go."""
        return min(processors(self.ray), self.most or processors(self.ray))

    def start(self, job: Job, work: Path, log: Path) -> RayRun:
        """Start a run on some node; the last line of its log comes with its failure."""
        return RayRun(self.ray, job, work)


def stamps_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the time and size of each complete file of a folder."""
    torn = set(torn_files(folder))
    found: dict[str, tuple[int, int]] = {}
    for path in folder.rglob("*"):
        try:
            status = os.stat(path)
        except FileNotFoundError:  # replaced or removed meanwhile
            continue
        if path.is_file() and path not in torn:
            found[str(path.relative_to(folder))] = (status.st_mtime_ns, status.st_size)
    return found


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write each file whole or not at all."""
    for name, content in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(content)
