"""What an example is, how its loss is computed, what is predicted and how it is scored."""

from bough.train.tasks.classes import ClassesTask
from bough.train.tasks.pairs import PairsTask, Rated, set_rarity
from bough.train.tasks.task import AT_ONCE, Floats, Indices, Learnable, shuffled

__all__ = [
    "AT_ONCE",
    "ClassesTask",
    "Floats",
    "Indices",
    "Learnable",
    "PairsTask",
    "Rated",
    "set_rarity",
    "shuffled",
]
