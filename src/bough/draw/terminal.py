"""Draw trees as lines for a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bough.draw.canvas import without_controls
from bough.draw.scored_svg import below, marks_of
from bough.trees.tree import Tree


@dataclass(frozen=True)
class Line:
    """Line of one phrase: the branches of the tree before it, its sign, the level of its colour, and its text.

    Examples:
        >>> import bough, bough.draw
        >>> bough.draw.lines(bough.load("sentiment")("An awful film."))[0].level
        0
    """

    before: str
    sign: str
    level: int
    text: str


def branches(tree: Tree, names: Sequence[str]) -> list[str]:
    """Return a tree as lines, a node above its children.

    Args:
        tree: any tree.
        names: the text of each node.

    Examples:
        >>> import bough, bough.draw
        >>> tree = bough.Tree(parents=[1, -1, 1], tokens=["cats", "climb", "trees"])
        >>> print(*bough.draw.branches(tree, tree.tokens), sep="\\n")
        climb
        ├─ cats
        └─ trees
    """
    found: list[str] = []
    stack = [(tree.root, "", "")]
    while stack:
        node, before, under = stack.pop()
        found.append(before + " ".join(without_controls(names[node]).split()))
        turn, line = "\u2514\u2500 ", "   "  # for the last child, which is pushed first
        for child in reversed(tree.children[node]):
            stack.append((child, under + turn, under + line))
            turn, line = "\u251c\u2500 ", "\u2502  "
    return found


def lines(result: Any) -> list[Line]:
    """Return the trees as lines, a phrase above its parts. A phrase whose parts all have its label is not divided.

    Args:
        result: a `Prediction`.

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
    found, marks = list[Line](), marks_of(result)
    stack = [(root, "", "") for root in reversed(result.roots)]
    while stack:
        place, before, under = stack.pop()
        level, sign = marks[place]
        text = " ".join(without_controls(result.nodes[place].text).split())
        found.append(Line(before, sign, level, text))
        label = result.nodes[place].label
        if all(result.nodes[inner].label == label for inner in below(result, place)):
            continue
        turn, line = "\u2514\u2500 ", "   "  # for the last child, which is pushed first
        for child in reversed(result.nodes[place].children):
            stack.append((child, under + turn, under + line))
            turn, line = "\u251c\u2500 ", "\u2502  "
    return found
