"""A feature system that was fitted, on the splits of its data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bough.data.sick import Pair
from bough.measures import Fitted, load
from bough.measures.system import ABOUT
from bough.model.config import Config
from bough.storage import read_json
from bough.training.tasks import Floats, RelatednessTask, correlations, read_some


def is_measured(run: Path) -> bool:
    """Whether a folder is that of a feature system's run."""
    return (run / ABOUT).exists()


def predict_split(run: Path, split: str, data: Path | str | None) -> tuple[dict[str, float], Floats]:
    """The figures and predictions on one split of the system in the folder `run`."""
    fitted = load(run, data=data)
    config = Config.stored(read_json(run / "run.json")["config"])
    return scored(fitted, read_some(RelatednessTask(config, fitted.prepare.data), split))


def scored(fitted: Fitted, pairs: Sequence[Pair]) -> tuple[dict[str, float], Floats]:
    """Figures and predictions of pairs."""
    predicted = fitted.predict(pairs)
    return correlations(predicted, np.array([pair.score for pair in pairs])), predicted
