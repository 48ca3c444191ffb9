"""Run the plan on a Ray cluster: each run is a task of one processor.

A run works in a folder of its own node, and the task streams the files of that folder to this
machine after each epoch. If its node dies, the run continues elsewhere from what is here; so it
does if this process is killed.
"""

import logging
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from bough.files import partial_files, replacing
from bough.train.loop import Event
from bough.version import __version__
from paper.runner import Job, train_job

TRIES = 3  # starts without a finished epoch, after which a run is given up
log = logging.getLogger(__name__)
Files = dict[str, bytes]  # the contents of a folder by relative path


def train(job: Job, files: Files, version: str) -> Iterator[Files]:
    """Continue a run from its files; yield all its files after each epoch and at the end."""
    if version != __version__:
        raise ValueError(f"a node has bough {__version__}, not {version}")
    snapshots: SimpleQueue[Files | None] = SimpleQueue()

    def after_epoch(event: Event) -> None:
        if event.dev is not None:
            snapshots.put(read_files(work))

    with tempfile.TemporaryDirectory(prefix="bough-run-") as folder, ThreadPoolExecutor(1) as thread:
        work = Path(folder, "run")
        write_files(work, files)
        done = thread.submit(train_job, job, work, callback=after_epoch)
        done.add_done_callback(lambda _: snapshots.put(None))
        while (snapshot := snapshots.get()) is not None:
            yield snapshot
        done.result()  # raises what the run has raised
        yield read_files(work)


class RayRun:
    """A run on some node, and on another if that one dies."""

    def __init__(self, ray: Any, job: Job, work: Path, log_file: Path) -> None:
        self.ray, self.job, self.work, self.log_file = ray, job, work, log_file
        self.starts = 0
        self.code: int | None = None
        self._start()

    def _start(self) -> None:
        self.starts += 1
        # no retries by Ray: they would begin with these files again
        task = self.ray.remote(num_cpus=1, max_retries=0)(train)
        self.snapshots = task.remote(self.job, read_files(self.work), __version__)

    @property
    def exitcode(self) -> int | None:
        """Copy new files here; return None while the run is at work or waits for a processor."""
        while self.code is None and self.ray.wait([self.snapshots], timeout=0)[0]:
            try:
                write_files(self.work, self.ray.get(next(self.snapshots)))
                self.starts = 1  # an epoch is done
            except StopIteration:
                self.code = 0
            except self.ray.exceptions.RayError as error:
                failed = isinstance(error, self.ray.exceptions.RayTaskError)
                if not failed and self.starts < TRIES:
                    log.warning("%s was lost with its node; it continues on another", self.work.parent.name)
                    self._start()
                    continue
                lost = f"lost {TRIES} times without an epoch done: {str(error)[:200]}"
                self.log_file.write_text(" ".join((str(error.cause) if failed else lost).split()))
                self.code = 1
        return self.code

    def terminate(self) -> None:
        """Stop the run; what has come here stays."""
        self.ray.cancel(self.snapshots, force=True)

    def join(self) -> None:
        """Return at once: the node ends by itself."""


def read_files(folder: Path) -> Files:
    """Read every complete file of a folder."""
    paths = {path for path in folder.rglob("*") if path.is_file()} - {*partial_files(folder)}
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}


def write_files(folder: Path, files: Files) -> None:
    """Write each file whole or not at all, and remove other files of the folder."""
    for name, content in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(content)
    for name in read_files(folder).keys() - files.keys():
        (folder / name).unlink()
