"""Several seeds of one system as one: their probabilities on test, kept in little room and averaged."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paper.plan import TOGETHER, Run
from paper.recipes import load_recipe
from paper.tasks.sst import sentiment_figures

STEPS = 65535  # a probability in 16 bits
TOGETHER_NAME = "+together"


def keeps_predictions(run: Run) -> bool:
    """Whether what it says of each test sentence is wanted once more."""
    return not run.settings and run.recipe.partition("-")[2] in TOGETHER


def packed(predicted: NDArray[np.float64]) -> str:
    """(n, K) probabilities as one line of text."""
    return base64.b64encode(np.round(predicted * STEPS).astype("<u2").tobytes()).decode()


def averaged(recipe: str, predictions: Sequence[str], data: Path) -> dict[str, float]:
    """The figures of all of them together; each is `packed`."""
    config = load_recipe(recipe)
    gold = np.array([tree.labels[tree.root] for tree in config.build_task(data).read("test")], dtype=np.int64)
    rows = [np.frombuffer(base64.b64decode(text), dtype="<u2").reshape(len(gold), -1) for text in predictions]
    return sentiment_figures(np.mean(rows, axis=0) / STEPS, gold, config)
