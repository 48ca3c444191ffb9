"""Measure processor time on a machine that other programs may be using too."""

from __future__ import annotations

import argparse
import json
import os
import time
import unittest.mock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Figures = dict[str, Any]
Work = Callable[[int], object]  # does the work of one batch, by its number
Seconds = NDArray[np.float64]  # (rounds, batches)


def interleaved(contenders: Sequence[Work], batches: int, rounds: int) -> list[Seconds]:
    """Return the seconds of each contender, (rounds, batches); they take turns, so that a busy spell slows all of them.

    These are seconds of processor time. With one thread they equal wall-clock time on an idle machine.
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
    """Return the seconds of all batches, each by its fastest round, which other programs disturbed least."""
    return float(seconds.min(axis=0).sum())


def by_equations(work: Work) -> Work:
    """Return the work with every layer run by its equations instead of its kernel."""

    def done(number: int) -> object:
        with unittest.mock.patch.dict(os.environ, BOUGH_FAST="0"):
            return work(number)

    return done


def command(
    name: str, run: Callable[..., Figures], show: Callable[[Figures], None], *, reads_data: bool = False
) -> None:
    """Read the arguments of `python -m benchmarks NAME`, measure, and show the figures or print them as JSON."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=run.__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    if reads_data:
        what = "data folder; without data, random trees of the same shapes"
        parser.add_argument("--data", type=Path, help=what)
    given = vars(parser.parse_args())
    as_json = given.pop("json")
    figures = run(**given)
    if as_json:
        print(json.dumps(figures, indent=2))
    else:
        show(figures)
