"""The configuration of the paper's systems: that of any model, with settings for SST and SICK."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bough.data import find_data
from bough.models.model import Trees
from bough.models.settings import in_range
from bough.outputs import Classes, Output, Ratings
from bough.outputs.classes import SENTIMENT
from bough.train.config import TrainConfig
from paper import layers as layers  # registers the layers that recipes name

if TYPE_CHECKING:
    from paper.tasks import Task

BINARY = ("negative", "neutral", "positive")
POLES = ("negative", "positive")  # the classes if neutral phrases have no label


@dataclass(frozen=True)
class PaperConfig(TrainConfig):
    """The configuration of one system. A recipe file may set any of these fields."""

    program = "python -m paper train"  # the command that takes a recipe's name, for cards
    recipes = Path(__file__).parent / "recipes"

    task: Literal["sst5", "sst2", "sick"] = "sst5"
    spans: int = 4  # labelled phrases that are sampled from each sentence if phrases are no nodes
    root_weight: float = 0.0  # weight of the mean loss of the roots, added to that of all nodes
    # the official data, whose sizes are checked, or other data in the same layout
    source: Literal["data", "own"] = "data"
    # whose trees: the authors', else a parser's ("auto"); "paper"; or the name of a parser (see paper.parses)
    trees: str = "auto"
    # SST's neutral phrases in the binary task: a third class, or phrases without a label
    neutral: Literal["class", "unlabelled"] = "class"
    # a system of `paper.systems`, which has no layer and ignores the settings of one
    system: str = ""
    # the examples of an epoch: sentences, or all distinct phrases of SST for a layer that reads words
    examples: Literal["sentences", "phrases"] = "sentences"
    extra_phrases: int = 0  # number of SST's phrases that are also examples by themselves
    max_examples: int = 0  # read at most so many examples of each split; 0 reads all

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range(self, "0 or more", "extra_phrases", "max_examples", "spans", "root_weight")
        if self.root_weight and self.loss_over != "nodes":
            raise ValueError(f"root_weight = {self.root_weight} is for loss_over = 'nodes'")
        if self.max_norm and self.of_pairs:
            raise ValueError(f"max_norm = {self.max_norm} is for a classifier; task = {self.task!r} has none")
        if self.neutral == "unlabelled" and self.task != "sst2":
            raise ValueError(f"neutral = 'unlabelled' is for task = 'sst2'; here it is {self.task!r}")
        if self.examples == "phrases" and (self.of_pairs or self.kind.reads != "words"):
            raise ValueError("examples = 'phrases' is for SST and a layer that reads words")
        if self.extra_phrases and (self.of_pairs or self.kind.reads != "constituency"):
            given = f"extra_phrases = {self.extra_phrases}"
            raise ValueError(f"{given} is for SST and a layer that reads trees of phrases")
        if self.trees == "none" and self.of_pairs and not self.reads_words:
            raise ValueError("trees = 'none' is for a layer that reads words")
        if self.encoder and (self.system or self.examples == "phrases"):
            raise ValueError(f"encoder = {self.encoder!r} goes with no system and no examples = 'phrases'")
        if not self.of_pairs and not self.kind.layer.phrases and self.kind.reads != "words":
            what = "gives whole sentences a vector, and no phrase of SST; it is for pairs"
            raise ValueError(f"layer = {self.layer!r} {what}")

    @property
    def of_pairs(self) -> bool:
        return self.task == "sick"

    @property
    def reads_words(self) -> bool:
        """Return whether the system reads sentences without a tree."""
        return not self.of_pairs if self.system else self.kind.reads == "words"

    @property
    def text_trees(self) -> Trees:
        """The trees that a model of this task reads, for texts."""
        return "sentence" if self.of_pairs else "sentences"

    @property
    def output(self) -> Output:
        """The classes or ratings that a model of this task predicts."""
        if self.of_pairs:
            return Ratings(1.0, float(self.scale))
        if self.task == "sst5":
            return Classes(SENTIMENT, ordered=True)
        return Classes(POLES if self.neutral == "unlabelled" else BINARY, ordered=True)

    def build_task(self, data: Path | str | None) -> Task:
        from paper.tasks import RelatednessTask, SentimentTask

        return (RelatednessTask if self.of_pairs else SentimentTask)(self, find_data(data))
