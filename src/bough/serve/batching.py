"""Jobs that arrive together, done together: one thread, batches by a budget, turns between requests."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

J = TypeVar("J")
A = TypeVar("A")
log = logging.getLogger(__name__)


class _Request(Generic[J, A]):
    """Jobs that are answered together, the next one to be done, and who waits for them."""

    def __init__(self, jobs: Sequence[J]) -> None:
        self.jobs, self.next = jobs, 0
        self.answers: list[A] = []
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[list[A]] = self.loop.create_future()
        self.failed: Exception | None = None

    @property
    def done(self) -> bool:
        return self.failed is not None or len(self.answers) == len(self.jobs)

    def settle(self) -> None:
        """On the loop: wake who waits, if somebody still does."""
        if self.future.cancelled():
            return
        if self.failed is not None:
            self.future.set_exception(self.failed)
        else:
            self.future.set_result(self.answers)


class Batcher(Generic[J, A]):
    """Runs `compute` on batches of jobs in a thread of its own.

    While one batch is computed the next one gathers; an idle batcher starts at once. A batch takes a job of
    each waiting request in turn until their sizes reach `budget`, so that a request of many jobs does not
    hold up those of one. `compute` gives an answer or an exception for each job; if it raises, each job is
    done again alone, and only the guilty ones fail.
    """

    def __init__(
        self,
        compute: Callable[[list[J]], Sequence[A | Exception]],
        size: Callable[[J], int],
        budget: int,
    ) -> None:
        self._compute, self._size, self._budget = compute, size, budget
        self._waiting: deque[_Request[J, A]] = deque()
        self._change = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="bough-batches", daemon=True)
        self._thread.start()

    async def ask(self, jobs: Sequence[J]) -> list[A]:
        """The answer to each job; the first exception among them is raised."""
        if not jobs:
            return []
        request: _Request[J, A] = _Request(jobs)
        with self._change:
            if self._closed:
                raise RuntimeError("closed; nothing more is computed")
            self._waiting.append(request)
            self._change.notify()
        return await request.future

    def close(self) -> None:
        """Finish what waits, then stop."""
        with self._change:
            self._closed = True
            self._change.notify()
        self._thread.join()

    # ------------------------------------------------------------------ the thread

    def _run(self) -> None:
        while batch := self._take():
            self._answer(batch)

    def _take(self) -> list[tuple[_Request[J, A], J]]:
        """The jobs whose turn it is, with the requests they belong to; none at the very end."""
        with self._change:
            while True:
                batch: list[tuple[_Request[J, A], J]] = []
                room = self._budget
                while self._waiting and room > 0:
                    request = self._waiting.popleft()
                    if request.failed is not None or request.future.cancelled():
                        continue
                    job = request.jobs[request.next]
                    request.next += 1
                    room -= self._size(job)
                    batch.append((request, job))
                    if request.next < len(request.jobs):
                        self._waiting.append(request)
                if batch or self._closed:
                    return batch
                self._change.wait()

    def _answer(self, batch: list[tuple[_Request[J, A], J]]) -> None:
        finished: dict[int, _Request[J, A]] = {}
        outcomes = self._outcomes([job for _, job in batch])
        for (request, _), outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Exception):
                request.failed = request.failed or outcome
            else:
                request.answers.append(outcome)
            if request.done:
                finished[id(request)] = request
        for request in finished.values():
            with suppress(RuntimeError):  # a loop that is closed has nobody who waits
                request.loop.call_soon_threadsafe(request.settle)

    def _outcomes(self, jobs: list[J]) -> Sequence[A | Exception]:
        try:
            return self._compute(jobs)
        except Exception as error:
            if len(jobs) == 1:
                log.exception("a request failed")
                return [error]
        return [outcome for job in jobs for outcome in self._outcomes([job])]
