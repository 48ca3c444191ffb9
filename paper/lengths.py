"""Figures 3 and 4: a system's score against the length of the sentence, in the paper's windows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paper.config import PaperConfig

HALF = 2.0  # a window is [l - 2, l + 2]
TAIL_SST, TAIL_SICK = 45.0, 18.5  # the last window takes all that is longer
FIRST_SST, FIRST_SICK, STEP_SST, STEP_SICK = (
    5.0,
    4.5,
    5.0,
    1.0,
)  # NOTE(paper): the figures' ticks, read off them


def windows(config: PaperConfig) -> list[float]:
    """The centres of the windows."""
    first, last, step = (
        (FIRST_SICK, TAIL_SICK, STEP_SICK) if config.task == "sick" else (FIRST_SST, TAIL_SST, STEP_SST)
    )
    return np.arange(first, last + step / 2, step).tolist()


def by_length(config: PaperConfig, data: Path, predicted: NDArray[np.float64]) -> dict[str, float]:
    """Window centre -> accuracy (SST) or Pearson's r (SICK) of a run's test predictions."""
    task = config.build_task(data)
    examples = task.read("test")
    centres = windows(config)
    if config.task == "sick":
        lengths = np.array([(len(pair.left.words) + len(pair.right.words)) / 2 for pair in examples])
        gold, said = np.array([pair.score for pair in examples]), predicted[:, 0]
    else:
        lengths = np.array([float(len(tree.words)) for tree in examples])
        gold = np.array([tree.labels[tree.root] for tree in examples])
        if config.task == "sst2":
            predicted = predicted.copy()
            predicted[:, 1:-1] = 0  # neutral is a class inside sentences only
        said = predicted.argmax(axis=1)
    scores = {}
    for centre in centres:
        inside = lengths >= centre - HALF
        if centre < centres[-1]:
            inside &= lengths <= centre + HALF
        if inside.sum() > 2:
            scores[f"{centre:g}"] = _score(config, said[inside], gold[inside])
    return scores


def _score(config: PaperConfig, said: NDArray[np.float64], gold: NDArray[np.float64]) -> float:
    if config.task == "sick":
        related = np.ptp(said) > 0 and np.ptp(gold) > 0  # as in the task's own figure, 0 where there is none
        return float(np.corrcoef(said, gold)[0, 1]) if related else 0.0
    return float((said == gold).mean())
