"""Draw the trees of a prediction as SVG, with the class of each node as a colour and a mark."""

from collections.abc import Collection, Iterator
from typing import Any

from bough.draw.canvas import GAP, MARGIN, ROW, WIDEST, clipped, document, shown, text_width
from bough.draw.palette import NEUTRAL, SIGNS, level_of_class, sign_of_class

STEP, RADIUS = 34.0, 10.0  # the distance between levels, and the radius of a node without a word


def svg(
    result: Any,
    *,
    style: bool = True,
    only: int | None = None,
    collapsed: Collection[int] = (),
    widest: float = WIDEST,
) -> str:
    """Return the trees of a result, below one another, as one SVG document.

    Args:
        result: a `Prediction`.
        style: whether to include the style sheet; False for a page that includes `STYLE` itself.
        only: the index in `result.nodes` of the one node to draw, with its subtree.
        collapsed: the indices of nodes whose phrase is drawn as a single word.
        widest: the width in pixels beyond which a tree is drawn from left to right, with its words below one another.

    Examples:
        >>> import bough, bough.draw
        >>> bough.draw.svg(bough.load("sentiment")("A delight."))[:4]
        '<svg'
    """
    count = len(result.nodes)
    for place in (*collapsed, *(() if only is None else (only,))):
        if not 0 <= place < count:
            raise ValueError(f"no node {place}; there are {count}, counted from 0")
    roots = result.roots if only is None else (only,)
    whole = frozenset(collapsed) - {only}
    marks = marks_of(result)
    pictures = [_Picture(result, root, marks, whole, widest) for root in roots]
    return document(f"{result.text[:200]}: {result.label}", pictures, style=style)


def marks_of(result: Any) -> list[tuple[int, str]]:
    """Return the level of the colour and the mark of each node, such as (4, `++`); see `level_of_class`.

    Numbers are divided into five levels between the smallest and the largest. If a node has several
    labels, the most probable one counts; a node without a label is neutral.
    """
    if not result.classes:
        scores = [node.score for node in result.nodes]
        low, high = min(scores), max(scores)
        steps = len(SIGNS) - 1
        levels = [NEUTRAL if low == high else round(steps * (score - low) / (high - low)) for score in scores]
        return [(level, SIGNS[level]) for level in levels]
    marks = []
    for node in result.nodes:
        label = max(node.labels, key=node.probabilities.__getitem__, default="") or node.label
        if label in result.classes:
            number = result.classes.index(label)
            level = level_of_class(number, len(result.classes), ordered=result.ordered)
            marks.append((level, sign_of_class(level, label)))
        else:
            marks.append((NEUTRAL, SIGNS[NEUTRAL]))
    return marks


def below(result: Any, root: int, *, whole: frozenset[int] = frozenset()) -> Iterator[int]:
    """Yield the nodes of a subtree in preorder, without the nodes below those in `whole`."""
    stack = [root]
    while stack:
        place = stack.pop()
        yield place
        if place not in whole:
            stack.extend(reversed(result.nodes[place].children))


class _Picture:
    """Picture of one tree, with the words in a row, or below one another if that is too wide."""

    def __init__(
        self, result: Any, root: int, marks: list[tuple[int, str]], collapsed: frozenset[int], widest: float
    ) -> None:
        self.result, self.marks, self.collapsed = result, marks, collapsed
        self.places = list(below(result, root, whole=collapsed))
        self.children = {p: () if p in collapsed else result.nodes[p].children for p in self.places}
        # the word of a node (the text of a leaf, or the word of a dependency node), and its sign if it is not neutral
        self.texts: dict[int, str] = {}
        self.signs: dict[int, str] = {}
        heights, firsts = dict[int, int](), dict[int, int]()
        for place in reversed(self.places):
            node, children = result.nodes[place], self.children[place]
            heights[place] = 1 + max((heights[child] for child in children), default=-1)
            own = node.word is not None and bool(children)
            word = result.tokens[node.word or 0] if own else "" if children else node.text
            self.texts[place] = clipped(word)
            level, sign = marks[place]
            self.signs[place] = sign if level != NEUTRAL else ""
            # the position of the node's word in the sentence
            firsts[place] = node.span[0] if node.word is None or place in collapsed else node.word
        spoken = [place for place in self.places if self.texts[place]]
        self.widths: dict[int, float] = {}
        for place in self.places:
            sign = f" {self.signs[place]}" if self.signs[place] else ""
            self.widths[place] = max(26.0, text_width(self.texts[place] + sign) + 12)
        across = sum(self.widths[place] + GAP for place in spoken)
        self.sideways = across + 2 * MARGIN > widest
        if self.sideways:
            self.width = STEP * heights[root] + 2 * MARGIN + max(self.widths.values())
            self.height = ROW * len(spoken) + 2 * MARGIN
        else:
            self.width = across - GAP + 2 * MARGIN
            self.height = STEP * heights[root] + 2 * MARGIN + 2 * RADIUS
        along: dict[int, float] = {}
        at = MARGIN
        for place in sorted(spoken, key=firsts.__getitem__):
            size = ROW if self.sideways else self.widths[place]
            along[place] = at + size / 2
            at += size + (0.0 if self.sideways else GAP)
        for place in reversed(self.places):
            if place not in along:
                children = self.children[place]
                along[place] = sum(along[child] for child in children) / len(children)
        self.spots: dict[int, tuple[float, float]] = {}  # x and y
        for place in self.places:
            rise = STEP * (heights[root] - heights[place]) + MARGIN + RADIUS
            self.spots[place] = (rise, along[place]) if self.sideways else (along[place], rise)

    def shapes(self) -> Iterator[str]:
        """Yield the edges, then the nodes over them."""
        for place in self.places:
            x, y = self.spots[place]
            for child in self.children[place]:
                to_x, to_y = self.spots[child]
                way = f"V{to_y:.1f}H{to_x:.1f}" if self.sideways else f"L{to_x:.1f} {to_y:.1f}"
                yield f'<path class="edge" d="M{x:.1f} {y:.1f}{way}"/>'
        for place in self.places:
            yield self._node(place)

    def _node(self, place: int) -> str:
        node, (x, y) = self.result.nodes[place], self.spots[place]
        level, sign = self.marks[place]
        chances = ", ".join(f"{name} {p:.0%}" for name, p in node.probabilities.items())
        label = f"{node.label} ({chances})" if chances else node.label
        title = f"<title>{shown(node.text)}\n{shown(label)}</title>"
        folded = " folded" if place in self.collapsed and node.children else ""
        head = f'<g class="node{folded}" data-node="{place}">{title}'
        if not self.texts[place]:
            return (
                f'{head}<circle class="l{level}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:g}"/>'
                f'<text class="mid sign on{level}" x="{x:.1f}" y="{y:.1f}" dy=".35em">{shown(sign)}</text></g>'
            )
        width = self.widths[place]
        left = x - (RADIUS if self.sideways else width / 2)
        mark = f' <tspan class="sign">{shown(self.signs[place])}</tspan>' if self.signs[place] else ""
        return (
            f'{head}<rect class="l{level}" x="{left:.1f}" y="{y - 10:.1f}" width="{width:.1f}" '
            f'height="20" rx="5"/><text class="mid on{level}" x="{left + width / 2:.1f}" '
            f'y="{y:.1f}" dy=".35em">{shown(self.texts[place])}{mark}</text></g>'
        )
