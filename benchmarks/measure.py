"""Time and memory of a piece of work, on a machine that others may be using too."""

from __future__ import annotations

import os
import time
import unittest.mock
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from torch.profiler import ProfilerActivity, profile

Work = Callable[[int], object]  # does the work of one batch, by its number
Seconds = NDArray[np.float64]  # (rounds, batches)


def interleaved(contenders: Sequence[Work], batches: int, rounds: int) -> list[Seconds]:
    """Each contender's seconds, (rounds, batches), turn by turn so that a busy spell hits them alike.

    Seconds of CPU time: with one thread that is the time of a clock on an idle machine, whatever else runs.
    """
    seconds = np.empty((len(contenders), rounds, batches))
    for turn in range(-1, rounds):  # turn -1 warms up
        for batch in range(batches):
            for number, work in enumerate(contenders):
                start = time.process_time()
                work(batch)
                seconds[number, max(turn, 0), batch] = time.process_time() - start
    return list(seconds)


def best(seconds: Seconds) -> float:
    """Seconds for all batches: for each the least of its rounds, the one that was disturbed least."""
    return float(seconds.min(axis=0).sum())


def spread(seconds: Seconds, against: Seconds) -> list[float]:
    """The least and the greatest ratio that a single round would have given."""
    ratios = seconds.sum(axis=1) / against.sum(axis=1)
    return [round(float(ratios.min()), 3), round(float(ratios.max()), 3)]


def by_equations(work: Work) -> Work:
    """Return the same work with every layer run by its equations."""

    def done(number: int) -> object:
        with unittest.mock.patch.dict(os.environ, BOUGH_FAST="0"):
            return work(number)

    return done


def peak_bytes(work: Callable[[], object]) -> int:
    """The most that torch had allocated at a time during the work, beyond what it held before."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else the profiler announces itself on stderr
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        work()
    results = profiled.profiler.kineto_results if profiled.profiler is not None else None
    events = (
        [event for event in results.events() if event.name() == "[memory]"] if results is not None else []
    )
    changes = [event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())]
    return int(np.cumsum(changes).max(initial=0))
