"""Runs on a Ray cluster: each in a process of one processor, its folder brought here after every epoch.

A run works in a folder of its own node, so that two never write into one, and what it stores comes to this machine.
If its node dies, it goes on elsewhere from what is here; so it does if this process dies and is started again.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from bough.files import replacing, torn_files
from bough.integrations.ray.connection import processors
from bough.version import __version__
from paper.executor import Job, LocalRun, Processes

LOOK = 1.0  # seconds between two looks at a run
TRIES = 3  # starts without a finished epoch, after which a run is given up
Stamps = dict[str, tuple[int, int]]
log = logging.getLogger(__name__)


class State(NamedTuple):
    """What a look at a run finds: what is new in its folder, and all that is there."""

    running: bool
    failure: str | None
    new: dict[str, bytes]
    stamps: Stamps


class Trainer:
    """On a node: one run in a process of its own."""

    def __init__(self, job: Job, files: Mapping[str, bytes], version: str) -> None:
        self.wrong = "" if version == __version__ else f"a node has bough {__version__}, not {version}"
        self.folder = tempfile.TemporaryDirectory(prefix="bough-run-")
        self.work = Path(self.folder.name, "run")
        if not self.wrong:
            if files:
                write_files(self.work, files)
            self.run: LocalRun = Processes(1).start(job, self.work, Path(self.folder.name, "log"))

    def look(self, known: Stamps) -> State:
        """How it is, with the files that are not `known`."""
        if self.wrong:
            return State(False, self.wrong, {}, {})
        running = self.run.running()  # asked first: what it wrote before it ended is then all here
        stamps = stamps_of(self.work)
        new = {name: (self.work / name).read_bytes() for name in stamps if known.get(name) != stamps[name]}
        return State(running, None if running else self.run.failure(), new, stamps)

    def close(self) -> None:
        """Stop, and leave nothing."""
        if not self.wrong:
            self.run.stop()
        self.folder.cleanup()


class RayRun:
    """From here: a run on some node, and on another if that one dies."""

    def __init__(self, ray: ModuleType, job: Job, work: Path) -> None:
        self.ray: Any = ray
        self.job, self.work = job, work
        self.actor: Any = None
        self.answer: Any = None
        self.state: State
        self.starts, self.next = 0, 0.0
        self._begin()

    def running(self) -> bool:
        """Whether it is at work, or waits for a processor; what is new comes here on the way."""
        if time.monotonic() < self.next or not self.ray.wait([self.answer], timeout=0)[0]:
            return True
        try:
            self.state = self.ray.get(self.answer)
        except self.ray.exceptions.RayError as error:
            return self._again(" ".join(str(error).split())[:200])
        if self.state.new:
            before = self._epochs()
            write_files(self.work, self.state.new)
            for name in stamps_of(self.work).keys() - self.state.stamps.keys():
                (self.work / name).unlink()
            self.starts = 1 if self._epochs() != before else self.starts
        if not self.state.running:
            self.ray.get(self.actor.close.remote())
            self.ray.kill(self.actor)
            return False
        self._ask()
        return True

    def failure(self) -> str | None:
        """The last line that it wrote, if it ended with an error."""
        return self.state.failure

    def stop(self) -> None:
        """What has come here stays."""
        self.ray.kill(self.actor)

    def _again(self, why: str) -> bool:
        self.ray.kill(self.actor)
        if self.starts >= TRIES:
            self.state = State(False, f"lost {TRIES} times without an epoch done: {why}", {}, {})
            return False
        log.warning("%s was lost with its node; it goes on on another", self.work.name)
        self._begin()
        return True

    def _epochs(self) -> bytes:
        path = self.work / "metrics.jsonl"
        return path.read_bytes() if path.exists() else b""

    def _begin(self) -> None:
        self.starts += 1
        self.state = State(True, None, {}, {})
        files = {name: (self.work / name).read_bytes() for name in stamps_of(self.work)}
        remote = self.ray.remote(num_cpus=1, max_restarts=0)(Trainer)
        self.actor = remote.remote(self.job, files, __version__)
        self._ask()

    def _ask(self) -> None:
        self.answer = self.actor.look.remote(self.state.stamps)
        self.next = time.monotonic() + LOOK


class RayRuns:
    """An executor of runs: as many at a time as the cluster has processors, at most `most`."""

    def __init__(self, ray: ModuleType, most: int | None = None) -> None:
        if most is not None and most < 1:
            raise ValueError(f"--jobs {most}: at least 1")
        self.ray, self.most = ray, most

    @property
    def jobs(self) -> int:
        """As things stand now: nodes come and go."""
        return min(processors(self.ray), self.most or processors(self.ray))

    def start(self, job: Job, work: Path, log: Path) -> RayRun:
        """A run on some node; the last line of its log comes with its failure."""
        return RayRun(self.ray, job, work)


def stamps_of(folder: Path) -> Stamps:
    """The files of a folder, with what changes when they change."""
    torn = set(torn_files(folder))
    found: Stamps = {}
    for path in folder.rglob("*"):
        try:
            status = os.stat(path)
        except FileNotFoundError:  # just replaced, or gone
            continue
        if path.is_file() and path not in torn:
            found[str(path.relative_to(folder))] = (status.st_mtime_ns, status.st_size)
    return found


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Each whole or not at all."""
    for name, content in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(content)
