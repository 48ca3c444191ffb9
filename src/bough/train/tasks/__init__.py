"""What an example is, what its loss, what a prediction, how it is scored: the paper's two tasks, and one's own."""

from __future__ import annotations

from pathlib import Path

from bough.data import find_data
from bough.model.config import Config
from bough.training.tasks.beside import set_rarity
from bough.training.tasks.classes import ClassesTask
from bough.training.tasks.joined import JoinedTask
from bough.training.tasks.mixed import MixedTask
from bough.training.tasks.pairs import PairsTask, correlations
from bough.training.tasks.share import Chosen, Share
from bough.training.tasks.sick import RelatednessTask
from bough.training.tasks.sst import SentimentTask
from bough.training.tasks.task import AT_ONCE, Floats, Indices, Learnable, Task, read_some, word_counts

__all__ = [
    "AT_ONCE",
    "Chosen",
    "ClassesTask",
    "Floats",
    "Indices",
    "JoinedTask",
    "Learnable",
    "MixedTask",
    "PairsTask",
    "RelatednessTask",
    "SentimentTask",
    "Share",
    "Task",
    "correlations",
    "read_some",
    "set_rarity",
    "task_for",
    "word_counts",
]

DEMO = Path(__file__).parents[2] / "data" / "demo"


def task_for(config: Config, data: Path | str | None) -> Task:
    """The task that a configuration names, on the data it names."""
    if config.task in ("classes", "pairs"):
        raise ValueError(
            f"task {config.task!r} has no data set of its own; `bough fit FILE` trains it on your file"
        )
    if config.task == "sick":
        return (JoinedTask if config.mix else RelatednessTask)(config, find_data(data))
    kind = MixedTask if config.mix else SentimentTask
    return kind(config, DEMO if config.source == "demo" else find_data(data))
