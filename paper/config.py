"""The settings of the paper's systems: those of any model, and what SST and SICK add to them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from bough.data import find_data
from bough.models.config import Config
from bough.models.output_spec import SENTIMENT, Purpose
from bough.models.settings import in_range
from bough.train.config import TrainConfig
from paper import layers as layers  # registers the layers that recipes name

if TYPE_CHECKING:
    from paper.tasks import Task

BINARY = ("negative", "neutral", "positive")
POLES = ("negative", "positive")  # where neutral phrases have no label


@dataclass(frozen=True)
class PaperConfig(TrainConfig):
    """One system of the paper, or one like it. A recipe file sets any of these."""

    tasks: ClassVar[tuple[str, ...]] = ("sst5", "sst2", "sick")
    program = "python -m paper train"  # the command that takes a recipe's name, for cards
    recipes = Path(__file__).parent / "recipes"

    task: str = "sst5"
    # the official data, whose sizes are checked, or other data in the same layout
    source: Literal["data", "own"] = "data"
    # SST's neutral phrases in the binary task: a third class, or phrases without a label
    neutral: Literal["class", "unlabelled"] = "class"
    # a system of `paper.systems`, which has no layer and ignores the settings of one
    system: str = ""
    # what an epoch goes through: sentences, or all distinct phrases of SST for a layer that reads words
    examples: Literal["sentences", "phrases"] = "sentences"
    extra_phrases: int = 0  # phrases of SST that are also examples of their own, each apart from its sentence
    max_examples: int = 0  # read only the first so many examples of every split; 0 for all

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range(self, "0 or more", "extra_phrases", "max_examples")
        if self.neutral == "unlabelled" and self.task != "sst2":
            raise ValueError(f"neutral = 'unlabelled' is for task = 'sst2'; here it is {self.task!r}")
        if self.examples == "phrases" and (self.of_pairs or self.kind.reads != "words"):
            raise ValueError("examples = 'phrases' is for SST and a layer that reads words")
        if self.extra_phrases and (self.of_pairs or self.kind.reads != "constituency"):
            raise ValueError(
                f"extra_phrases = {self.extra_phrases} is for SST and a layer that reads trees of phrases"
            )
        if self.encoder and (self.system or self.examples == "phrases"):
            raise ValueError(f"encoder = {self.encoder!r} goes with no system and no examples = 'phrases'")
        if not self.of_pairs and not self.kind.layer.phrases and self.kind.reads != "words":
            raise ValueError(
                f"layer = {self.layer!r} gives whole sentences a vector, and no phrase of SST; it is for pairs"
            )

    @property
    def of_pairs(self) -> bool:
        return self.task == "sick"

    @property
    def purpose(self) -> Purpose:
        """Return what a model of this task predicts."""
        if self.of_pairs:
            return Purpose(ratings=(1.0, float(self.scale)), trees="sentence")
        if self.task == "sst5":
            return Purpose(classes=SENTIMENT, ordered=True)
        return Purpose(classes=POLES if self.neutral == "unlabelled" else BINARY, ordered=True)

    @classmethod
    def of_model(cls, config: Config, purpose: Purpose) -> Self:
        """Return the settings for the data set that a model's classes or ratings belong to."""
        values: dict[str, Any] = {field.name: getattr(config, field.name) for field in fields(Config)}
        if config.of_pairs:
            return cls(**{**values, "task": "sick"})
        binary = "unlabelled" if purpose.classes == POLES else "class"
        five = purpose.classes == SENTIMENT
        return cls(**{**values, "task": "sst5" if five else "sst2", "neutral": "class" if five else binary})

    def build_task(self, data: Path | str | None) -> Task:
        """Return the task on the data in a folder."""
        from paper.tasks import RelatednessTask, SentimentTask

        return (RelatednessTask if self.of_pairs else SentimentTask)(self, find_data(data))
