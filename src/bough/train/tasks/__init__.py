"""Tasks: what an example is, how its loss is computed, what is predicted and how it is scored."""

from bough.train.tasks.nodes import ClassesTask, LabelsTask, NumbersTask
from bough.train.tasks.pairs import PairClassesTask, PairsTask, RatedPair
from bough.train.tasks.task import Floats, Indices, Learnable, sentences_of, shuffled

__all__ = [
    "ClassesTask",
    "Floats",
    "Indices",
    "LabelsTask",
    "Learnable",
    "NumbersTask",
    "PairClassesTask",
    "PairsTask",
    "RatedPair",
    "sentences_of",
    "shuffled",
]
