"""Tasks: what an example is, how its loss is computed, what is predicted and how it is scored."""

from bough.train.tasks.classes import ClassesTask
from bough.train.tasks.pairs import PairsTask, RatedPair
from bough.train.tasks.task import AT_ONCE, Floats, Indices, Learnable, TreeTask, sentences_of, shuffled
from bough.train.tasks.values import LabelsTask, NumbersTask, PairClassesTask

__all__ = [
    "AT_ONCE",
    "ClassesTask",
    "Floats",
    "Indices",
    "LabelsTask",
    "Learnable",
    "NumbersTask",
    "PairClassesTask",
    "PairsTask",
    "RatedPair",
    "TreeTask",
    "sentences_of",
    "shuffled",
]
