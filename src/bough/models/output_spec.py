"""What a model says, and of which trees: its classes by name or its range of ratings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

SENTIMENT = ("very negative", "negative", "neutral", "positive", "very positive")
Trees = Literal["sentences", "sentence", "whole", "chain", "given"]


@dataclass(frozen=True)
class Purpose:
    """What a folder's `config.json` says about it.

    `classes` are in the order of the head's rows, `ordered` if they form a scale. `ratings` are the ends of a scale.
    `trees` says which trees the model reads: one per sentence ("sentences"), one for a text that is a single sentence
    ("sentence"), one that joins the trees of all sentences ("whole"), a chain of words without a parser ("chain"), or
    trees that are given, with no text at all ("given").
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
