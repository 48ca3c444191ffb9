"""Draw scored trees as lines for a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from bough.draw.canvas import without_controls
from bough.draw.scored_svg import Scored, below, level_of, sign_of


@dataclass(frozen=True)
class Line:
    """A phrase on its own line: what stands before it, its sign, its level on the scale of five, and its text.

    Examples:
        >>> import bough, bough.draw
        >>> bough.draw.lines(bough.load("sentiment")("An awful film."))[0].level
        0
    """

    before: str
    sign: str
    level: int
    text: str


def lines(result: Scored) -> list[Line]:
    """The trees as lines, a phrase above its parts; a phrase whose parts all have its label stays whole.

    Args:
        result: a `Sentiment`, or anything with its attributes.

    Examples:
        >>> import bough, bough.draw
        >>> for line in bough.draw.lines(bough.load("sentiment")("Not a good film.")):
        ...     print(line.before + line.sign, line.text)
        − Not a good film.
        ├─ − Not
        └─ + a good film.
           ├─ 0 a
           └─ + good film.
              ├─ + good
              └─ 0 film.
    """
    found: list[Line] = []
    stack = [(root, "", "") for root in reversed(result.roots)]
    while stack:
        place, before, under = stack.pop()
        level = level_of(result, place)
        text = " ".join(without_controls(result.nodes[place].text).split())
        found.append(Line(before, sign_of(result, place), level, text))
        label = result.nodes[place].label
        if all(result.nodes[inner].label == label for inner in below(result, place)):
            continue
        turn, line = "\u2514\u2500 ", "   "  # of the last child, which is the first on the stack
        for child in reversed(result.nodes[place].children):
            stack.append((child, under + turn, under + line))
            turn, line = "\u251c\u2500 ", "\u2502  "
    return found
