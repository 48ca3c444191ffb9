"""What an example is, how its loss is computed, what is predicted and how it is scored."""

from bough.train.tasks.batch_shard import Chosen, Share
from bough.train.tasks.classes import ClassesTask
from bough.train.tasks.pair_features import set_rarity
from bough.train.tasks.pairs import PairsTask, Rated
from bough.train.tasks.task import AT_ONCE, Floats, Indices, Learnable, shuffled

__all__ = [
    "AT_ONCE",
    "Chosen",
    "ClassesTask",
    "Floats",
    "Indices",
    "Learnable",
    "PairsTask",
    "Rated",
    "Share",
    "set_rarity",
    "shuffled",
]
