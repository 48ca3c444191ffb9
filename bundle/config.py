"""The settings and recipes of the bundled models: a system of the paper, and other sources beside SST and SICK."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bough.data import find_data
from bough.train.recipes import read_recipe
from paper.config import PaperConfig

if TYPE_CHECKING:
    from paper.tasks import Task


@dataclass(frozen=True)
class BundleConfig(PaperConfig):
    """A system of the paper that also learns from the sources of `mix`."""

    program = "python -m bundle"
    recipes = Path(__file__).parent / "recipes"

    # sources beside SST or SICK, and how many of each go into a step: "goemotions:16 titles:3"
    mix: str = ""
    mix_weight: float = 3.0  # what a text of theirs counts against a phrase of SST

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.mix_weight < math.inf:
            raise ValueError(f"mix_weight = {self.mix_weight}: 0 or more")
        mixable = {("sst5", "constituency"), ("sick", "dependency")}
        if shares(self.mix) and (self.encoder or (self.task, self.kind.reads) not in mixable):
            raise ValueError(
                f"mix = {self.mix!r} is for task = 'sst5' and a layer that reads trees of phrases, "
                "or task = 'sick' and one that reads dependencies, and for word vectors"
            )

    def build_task(self, data: Path | str | None) -> Task:
        """Return the task on the data in a folder, with the other sources if there are any."""
        from bundle.sick_mixture import JoinedTask
        from bundle.sst_mixture import MixedTask

        if not self.mix:
            return super().build_task(data)
        return (JoinedTask if self.of_pairs else MixedTask)(self, find_data(data))


def load_recipe(name: str) -> BundleConfig:
    """Read a recipe of a bundled model by its name, or a TOML file by its path."""
    return read_recipe(BundleConfig(), name, BundleConfig.recipes)


def shares(mix: str) -> dict[str, int]:
    """Read the setting `mix`: the sources and how many of each go into a step.

    >>> shares("goemotions:16 titles:3")
    {'goemotions': 16, 'titles': 3}
    """
    counts: dict[str, int] = {}
    for part in mix.split():
        name, colon, count = part.partition(":")
        if not (name and colon and count.isdecimal() and int(count)) or name in counts:
            raise ValueError(f"mix = {mix!r}: {part!r} is not NAME:COUNT, each name once")
        counts[name] = int(count)
    return counts
