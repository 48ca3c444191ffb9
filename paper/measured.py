"""A system without a layer that was fitted, on the splits of its data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bough.files import read_json
from bough.models.metrics import Floats, correlations
from paper.config import PaperConfig
from paper.systems import load
from paper.systems.system import ABOUT
from paper.tasks import read_some
from paper.tasks.sst import sentiment_figures


class Predicts(Protocol):
    """What has been fitted: ratings (n,) of pairs, or probabilities (n, K) of sentences."""

    def predict(self, examples: Sequence[Any], /) -> Floats: ...


def is_measured(run: Path) -> bool:
    """Whether a folder is the run of such a system."""
    return (run / ABOUT).exists()


def predict_split(run: Path, split: str, data: Path | str | None) -> tuple[dict[str, float], Floats]:
    """The figures and predictions on one split of the system in the folder `run`."""
    config = PaperConfig.stored(read_json(run / "run.json")["config"])
    return scored(load(run, data=data), config, read_some(config.build_task(data), split))


def scored(fitted: Predicts, config: PaperConfig, examples: Sequence[Any]) -> tuple[dict[str, float], Floats]:
    """Figures and predictions of pairs, or of trees."""
    predicted = fitted.predict(examples)
    if config.task == "sick":
        return correlations(predicted, np.array([pair.score for pair in examples])), predicted
    gold = np.array([tree.labels[tree.root] for tree in examples])
    return sentiment_figures(predicted, gold, config), predicted
