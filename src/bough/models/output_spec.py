"""What a model says, and of which trees: its classes by name or its range of ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from bough.model.config import Config

CLASS_NAMES = {
    "sst5": ("very negative", "negative", "neutral", "positive", "very positive"),
    "sst2": ("negative", "neutral", "positive"),
}
POLES = ("negative", "positive")  # where neutral phrases have no label
Trees = Literal["sentences", "whole", "chain", "given"]


@dataclass(frozen=True)
class Purpose:
    """What a folder's `config.json` says about it; the paper's tasks have theirs by name.

    `classes` are in the order of the head's rows, `ordered` if they stand on a line from one end to the other;
    `ratings` are the ends of a scale. `trees`: one per sentence, one for a text as a whole, a chain of its words
    without a parser, or trees that are given, with no text at all.
    """

    classes: tuple[str, ...] = ()
    ordered: bool = False
    ratings: tuple[float, float] = (1.0, 5.0)
    trees: Trees = "sentences"

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        low, high = self.ratings
        object.__setattr__(self, "ratings", (float(low), float(high)))
        if not all(isinstance(name, str) for name in self.classes):
            raise ValueError(f"classes {self.classes}: names, each a text")
        if len(self.classes) == 1 or len({*self.classes}) < len(self.classes):
            raise ValueError(f"classes {self.classes}: at least two, each once")
        if not low < high:
            raise ValueError(f"ratings {self.ratings}: from a smaller number to a larger one")
        if self.trees not in get_args(Trees):
            raise ValueError(f"trees {self.trees!r}: one of {', '.join(map(repr, get_args(Trees)))}")

    @classmethod
    def usual(cls, config: Config) -> Purpose:
        """That of one of the paper's tasks."""
        if config.task == "sick":
            return cls(ratings=(1.0, float(config.scale)), trees="whole")
        if config.task not in CLASS_NAMES:
            raise ValueError(
                f"task {config.task!r}: its classes or ratings are the model's own; a Purpose says them"
            )
        unlabelled = config.task == "sst2" and config.neutral == "unlabelled"
        return cls(classes=POLES if unlabelled else CLASS_NAMES[config.task], ordered=True)

    @classmethod
    def stored(cls, config: Config, meta: Mapping[str, Any]) -> Purpose:
        """From a model folder's `config.json`."""
        return cls(**meta["purpose"]) if "purpose" in meta else cls.usual(config)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `config.json`."""
        return asdict(self)

    def rating(self, place: Any, steps: int) -> Any:
        """A place on the head's scale of 1 to `steps` as a rating on this one; a number, an array or a tensor."""
        low, high = self.ratings
        return place if (low, high) == (1, steps) else low + (place - 1) / (steps - 1) * (high - low)

    def place(self, rating: Any, steps: int) -> Any:
        """The other way round."""
        low, high = self.ratings
        return rating if (low, high) == (1, steps) else 1 + (rating - low) / (high - low) * (steps - 1)
