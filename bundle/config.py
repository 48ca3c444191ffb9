"""The settings and recipes of the bundled models: a system of the paper, and more sources."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bough.data import find_data
from bough.models.model import Trees
from bough.models.settings import in_range
from bough.outputs import Output
from bough.outputs.classes import sentiment_classes
from bough.train.recipes import read_recipe
from paper.config import PaperConfig

if TYPE_CHECKING:
    from paper.tasks import Task


@dataclass(frozen=True)
class BundleConfig(PaperConfig):
    """A system of the paper that also learns from the sources of `mix`."""

    program = "python -m bundle"
    recipes = Path(__file__).parent / "recipes"

    # sources beside SST, and how many texts of each go into a step: "goemotions:12 xed:6"
    mix: str = ""
    mix_weight: float = 2.5  # what a text of theirs counts against a phrase of SST
    # what negative against positive counts beside that, in texts that are not neutral
    polar_weight: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range(self, "0 or more", "mix_weight", "polar_weight")
        if shares(self.mix) and (self.encoder or (self.task, self.kind.reads) != ("sst5", "constituency")):
            raise ValueError(
                f"mix = {self.mix!r} is for task = 'sst5', a layer that reads trees of phrases, and word vectors"
            )

    @property
    def output(self) -> Output:
        """The output of the model, whose five classes have polarities."""
        return sentiment_classes() if self.task == "sst5" else super().output

    @property
    def text_trees(self) -> Trees:
        """The trees that the model reads. The sources have texts of several sentences, whose trees are joined."""
        return "joined" if self.mix else super().text_trees

    def build_task(self, data: Path | str | None) -> Task:
        """Return the task on the data in a folder, with the other sources if there are any."""
        from bundle.sst_mixture import MixedTask

        return MixedTask(self, find_data(data)) if self.mix else super().build_task(data)


def load_recipe(name: str) -> BundleConfig:
    """Read a recipe of a bundled model by its name, or a TOML file by its path."""
    return read_recipe(BundleConfig(), name, BundleConfig.recipes)


def shares(mix: str) -> dict[str, int]:
    """Read the setting `mix`: the sources and how many of each go into a step.

    >>> shares("goemotions:12 xed:6")
    {'goemotions': 12, 'xed': 6}
    """
    counts: dict[str, int] = {}
    for part in mix.split():
        name, colon, count = part.partition(":")
        if not (name and colon and count.isdecimal() and int(count)) or name in counts:
            raise ValueError(f"mix = {mix!r}: {part!r} is not NAME:COUNT, each name once")
        counts[name] = int(count)
    return counts
