"""Compute jobs that arrive together in one batch; requests take turns."""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

J = TypeVar("J")
A = TypeVar("A")
log = logging.getLogger(__name__)


class _Request(Generic[J, A]):
    """The jobs of a request, how many of them were started, and the future of their answers."""

    def __init__(self, jobs: Sequence[J]) -> None:
        self.jobs, self.started = jobs, 0
        self.answers: list[A] = []
        self.future: asyncio.Future[list[A]] = asyncio.get_running_loop().create_future()


class Batcher(Generic[J, A]):
    """Run `compute` on batches of jobs in a thread.

    While one batch is computed, new jobs wait for the next one; an idle batcher starts at once. A
    batch takes one job of each waiting request in turn until their sizes reach `budget`, and stops
    taking those of a request whose sizes reach `share`, so that a request with many or long jobs does
    not delay requests with one. `compute` returns an answer or an exception for each job. If it
    raises, each job is computed again alone, and only the faulty ones fail.
    """

    def __init__(
        self,
        compute: Callable[[list[J]], Sequence[A | Exception]],
        size: Callable[[J], int],
        budget: int,
        share: int,
    ) -> None:
        self._compute, self._size, self._budget, self._share = compute, size, budget, share
        self._waiting: deque[_Request[J, A]] = deque()
        # only one thread may use the models at a time
        self._thread = ThreadPoolExecutor(1, "bough-batches")
        self._work: asyncio.Task[None] | None = None
        self._closed = False

    async def ask(self, jobs: Sequence[J]) -> list[A]:
        """Return the answer to each job; raise the first exception among them."""
        if self._closed:
            raise RuntimeError("the batcher is closed")
        if not jobs:
            return []
        request: _Request[J, A] = _Request(jobs)
        self._waiting.append(request)
        # never wait to fill a batch: jobs that arrive during a batch are the next one
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._answer_all())
        return await request.future

    async def close(self) -> None:
        """Finish the waiting requests, then stop."""
        self._closed = True
        if self._work is not None:
            await self._work
        self._thread.shutdown()

    async def _answer_all(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            outcomes = await loop.run_in_executor(self._thread, self._outcomes, [job for _, job in batch])
            for (request, _), outcome in zip(batch, outcomes, strict=True):
                if request.future.done():  # failed, or cancelled by its client
                    continue
                if isinstance(outcome, Exception):
                    request.future.set_exception(outcome)
                    continue
                request.answers.append(outcome)
                if len(request.answers) == len(request.jobs):
                    request.future.set_result(request.answers)

    def _next_batch(self) -> list[tuple[_Request[J, A], J]]:
        """Take a job of each waiting request in turn, up to the budget; return (request, job) pairs."""
        batch: list[tuple[_Request[J, A], J]] = []
        room, served = self._budget, list[_Request[J, A]]()
        taken: dict[_Request[J, A], int] = defaultdict(int)
        # checked before a job is taken, so that a job larger than the budget still runs
        while self._waiting and room > 0:
            request = self._waiting.popleft()
            if request.future.done():
                continue
            job = request.jobs[request.started]
            request.started += 1
            room -= self._size(job)
            taken[request] += self._size(job)
            batch.append((request, job))
            if request.started < len(request.jobs):
                (self._waiting if taken[request] < self._share else served).append(request)
        self._waiting.extend(served)  # in the next batch
        return batch

    def _outcomes(self, jobs: list[J]) -> Sequence[A | Exception]:
        try:
            return self._compute(jobs)
        except Exception as error:
            if len(jobs) == 1:
                if not isinstance(error, ValueError):  # a ValueError is the client's mistake
                    log.exception("a request failed")
                return [error]
        return [outcome for job in jobs for outcome in self._outcomes([job])]
