"""Claims about batches: what waits is done together, in turns, and a failure stays with whom it belongs to."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from bough.serve.batching import Batcher
from waiting import LIMIT


class Desk:
    """Doubles numbers; holds the first batch until it is told to go on, and remembers every batch."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.started, self.go = threading.Event(), threading.Event()

    def compute(self, jobs: list[int]) -> Sequence[int | Exception]:
        self.started.set()
        self.go.wait(LIMIT)
        self.batches.append(list(jobs))
        if -1 in jobs:
            raise RuntimeError("the whole batch fails")
        return [ValueError("odd one") if job == -2 else 2 * job for job in jobs]


def asked(
    desk: Desk, *requests: list[int], budget: int = 100, share: int = 100
) -> list[list[int] | BaseException]:
    """The answers to requests that arrive, in this order, while a first one is computed."""

    async def ask() -> list[list[int] | BaseException]:
        batcher: Batcher[int, int] = Batcher(desk.compute, lambda job: 10, budget, share)
        first = asyncio.create_task(batcher.ask([0]))
        assert await asyncio.to_thread(desk.started.wait, LIMIT)
        others = [asyncio.create_task(batcher.ask(jobs)) for jobs in requests]
        await asyncio.sleep(0.05)
        desk.go.set()
        await first
        answers = await asyncio.gather(*others, return_exceptions=True)
        await batcher.close()
        return answers

    return asyncio.run(ask())


def test_what_arrives_together_is_one_batch() -> None:
    desk = Desk()
    assert asked(desk, [1], [2, 3], [4]) == [[2], [4, 6], [8]]
    assert [sorted(batch) for batch in desk.batches] == [[0], [1, 2, 3, 4]]


def test_a_large_request_takes_turns_with_small_ones() -> None:
    desk = Desk()
    assert asked(desk, list(range(1, 9)), [10], [20], budget=40) == [list(range(2, 18, 2)), [20], [40]]
    assert desk.batches[1] == [1, 10, 20, 2]
    assert desk.batches[2:] == [[3, 4, 5, 6], [7, 8]]


def test_a_request_has_a_share_of_a_batch() -> None:
    desk = Desk()
    assert asked(desk, [1, 2, 3, 4, 5], [10], share=20) == [[2, 4, 6, 8, 10], [20]]
    assert desk.batches[1:] == [[1, 10, 2], [3, 4], [5]]


def test_a_job_larger_than_the_budget_is_done_alone() -> None:
    desk = Desk()
    assert asked(desk, [1], [2], budget=5) == [[2], [4]]
    assert desk.batches == [[0], [1], [2]]


@pytest.mark.filterwarnings("ignore")
def test_a_failing_job_fails_alone() -> None:
    one, broken, other = asked(Desk(), [1, 2], [3, -1, 4], [5])
    assert (one, other) == ([2, 4], [10])
    assert isinstance(broken, RuntimeError)


def test_a_job_that_is_answered_with_an_exception_raises_it() -> None:
    one, odd = asked(Desk(), [1], [-2, 3])
    assert one == [2]
    assert isinstance(odd, ValueError)


def test_who_went_away_is_passed_over() -> None:
    async def ask() -> list[list[int]]:
        desk = Desk()
        batcher: Batcher[int, int] = Batcher(desk.compute, lambda job: 1, 10, 10)
        first = asyncio.create_task(batcher.ask([0]))
        assert await asyncio.to_thread(desk.started.wait, LIMIT)
        gone, stays = asyncio.create_task(batcher.ask([1])), asyncio.create_task(batcher.ask([2]))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.sleep(0)
        desk.go.set()
        await asyncio.gather(first, stays)
        await batcher.close()
        return desk.batches

    assert asyncio.run(ask()) == [[0], [2]]


def test_closing_finishes_what_waits() -> None:
    async def ask() -> list[list[int]]:
        desk = Desk()
        batcher: Batcher[int, int] = Batcher(desk.compute, lambda job: 1, 1, 1)
        tasks = [asyncio.create_task(batcher.ask([job])) for job in (1, 2, 3)]
        await asyncio.sleep(0.05)
        desk.go.set()
        await batcher.close()
        answers = await asyncio.gather(*tasks)
        with pytest.raises(RuntimeError, match="closed"):
            await batcher.ask([4])
        return answers

    assert asyncio.run(ask()) == [[2], [4], [6]]
