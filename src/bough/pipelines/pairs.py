"""What comes of two texts, and of one text among many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bough.draw.tree_svg import svg
from bough.formats.escapes import printable
from bough.pipelines.json_text import DIGITS, encoded, rounded
from bough.trees.tree import Tree


@dataclass(frozen=True)
class Neighbour:
    """A text of a corpus, its place there, and how related it is to the query, on the model's scale.

    Examples:
        >>> import bough
        >>> best, *_ = bough.load("relatedness").nearest("It rains", ["A dog runs", "The rain is falling"])
        >>> best.text, best.index
        ('The rain is falling', 1)
    """

    text: str
    score: float
    index: int


@dataclass(frozen=True)
class Relatedness:
    """How related two texts are: `score` is the expected rating under `probabilities`.

    The ratings are evenly spaced on the model's scale, 1 to 5 for the shipped one.

    Examples:
        >>> import bough
        >>> result = bough.load("relatedness").compare("A man plays a guitar", "A man plays music")
        >>> result.score > 3, len(result.probabilities)
        (True, 5)
    """

    a: str
    b: str
    score: float
    probabilities: tuple[float, ...]
    trees: tuple[Tree, Tree]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "a": printable(self.a),
            "b": printable(self.b),
            "score": round(self.score, DIGITS),
            "probabilities": rounded(self.probabilities),
        }

    def json(self) -> str:
        """The same as one line of JSON."""
        return encoded(self.as_dict())

    def _repr_svg_(self) -> str | None:
        return svg(self.trees, f"{self.a} / {self.b}", caption=f"relatedness {self.score:.2f}")
