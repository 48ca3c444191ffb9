"""Measure processor time on a machine that other programs may be using too."""

import os
import time
import unittest.mock
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

Figures = dict[str, Any]
Work = Callable[[int], object]  # does the work of one batch, by its number
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print the figures as JSON.")]


def best_seconds(contenders: Mapping[str, Work], batches: int, rounds: int) -> dict[str, float]:
    """Return the seconds that each contender needs for all batches, each batch by its fastest round.

    The contenders take turns, so that a busy spell slows all of them; other programs disturb the
    fastest round least. These are seconds of processor time. With one thread they equal wall-clock
    time on an idle machine.
    """
    seconds = np.empty((len(contenders), rounds, batches))
    for turn in range(-1, rounds):  # turn -1 warms up
        for batch in range(batches):
            for number, work in enumerate(contenders.values()):
                start = time.process_time()
                work(batch)
                seconds[number, max(turn, 0), batch] = time.process_time() - start
    return dict(zip(contenders, seconds.min(axis=1).sum(axis=1).tolist(), strict=True))


def by_equations(work: Work) -> Work:
    """Return the work with every layer run by its equations instead of its kernel."""

    def done(number: int) -> object:
        with unittest.mock.patch.dict(os.environ, BOUGH_FAST="0"):
            return work(number)

    return done
