"""A scored tree as a picture, in our own small SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from bough.draw.canvas import GAP, MARGIN, ROW, WIDEST, clipped, document, shown, text_width
from bough.draw.protocols import Scored, below, is_marked, level_of, sign_of

STEP, RADIUS = 34.0, 10.0  # from a level of the tree to the next; of a node without a word


class Spot(NamedTuple):
    """Where a node is drawn."""

    x: float
    y: float


def svg(
    result: Scored,
    *,
    style: bool = True,
    only: int | None = None,
    collapsed: Collection[int] = (),
    widest: float = WIDEST,
) -> str:
    """The trees of a result, one below the other, as one SVG document.

    Args:
        result: a `Sentiment`, or anything with its attributes.
        style: False leaves out the style sheet, for a page that has `STYLE` in its own.
        only: the place of the one node to draw, with its subtree.
        collapsed: places of nodes that are drawn as if their phrase were a word.
        widest: a wider tree runs from top to bottom.

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
    pictures = [_Picture(result, root, whole, widest) for root in roots]
    return document(f"{result.text[:200]}: {result.label}", pictures, style=style)


class _Picture:
    """One sentence's tree. Words stand in a row, or, where that is too wide, one below the other."""

    def __init__(self, result: Scored, root: int, collapsed: frozenset[int], widest: float) -> None:
        self.result, self.root, self.collapsed = result, root, collapsed
        self.places = list(below(result, root, whole=collapsed))
        heights: dict[int, int] = {}
        for place in reversed(self.places):
            heights[place] = 1 + max((heights[child] for child in self._children(place)), default=-1)
        self.heights = heights
        self.texts = {place: self._word(place) for place in self.places}
        widths = {place: max(26.0, text_width(self._spoken(place)) + 12) for place in self.places}
        across = sum(widths[place] + GAP for place in self.places if self.texts[place])
        self.sideways = across + 2 * MARGIN > widest
        self.widths = widths
        top = heights[root]
        self.longest = max(widths.values())
        words = sum(1 for place in self.places if self.texts[place])
        if self.sideways:
            self.width, self.height = STEP * top + 2 * MARGIN + self.longest, ROW * words + 2 * MARGIN
        else:
            self.width, self.height = across - GAP + 2 * MARGIN, STEP * top + 2 * MARGIN + 2 * RADIUS
        self.spots = self._laid_out()

    def _children(self, place: int) -> Sequence[int]:
        return () if place in self.collapsed else self.result.nodes[place].children

    def _word(self, place: int) -> str:
        """The word drawn at a node: a leaf's text, or in a dependency tree the node's own word."""
        node = self.result.nodes[place]
        children = self._children(place)
        if node.word is None and children:
            return ""
        word = self.result.tokens[node.word] if node.word is not None and children else node.text
        return clipped(word)

    def _spoken(self, place: int) -> str:
        """The word with its sign, as it is drawn; neutral words have none."""
        word = self.texts[place]
        return f"{word} {sign_of(self.result, place)}" if is_marked(self.result, place) else word

    def _first(self, place: int) -> int:
        """Where a drawn word stands among the words."""
        node = self.result.nodes[place]
        return node.span[0] if node.word is None or place in self.collapsed else node.word

    def _laid_out(self) -> dict[int, Spot]:
        along: dict[int, float] = {}
        at = MARGIN
        spoken = [place for place in self.places if self.texts[place]]
        for place in sorted(spoken, key=self._first):
            size = ROW if self.sideways else self.widths[place]
            along[place] = at + size / 2
            at += size + (0.0 if self.sideways else GAP)
        for place in reversed(self.places):
            children = self._children(place)
            if place not in along:
                along[place] = sum(along[child] for child in children) / len(children)
        spots = {}
        for place in self.places:
            rise = STEP * (self.heights[self.root] - self.heights[place]) + MARGIN + RADIUS
            spots[place] = Spot(rise, along[place]) if self.sideways else Spot(along[place], rise)
        return spots

    def shapes(self) -> Iterator[str]:
        """The edges, then the nodes over them."""
        for place in self.places:
            for child in self._children(place):
                yield self._edge(self.spots[place], self.spots[child])
        for place in self.places:
            yield self._node(place)

    def _edge(self, above: Spot, below: Spot) -> str:
        if self.sideways:
            return f'<path class="edge" d="M{above.x:.1f} {above.y:.1f}V{below.y:.1f}H{below.x:.1f}"/>'
        return f'<path class="edge" d="M{above.x:.1f} {above.y:.1f}L{below.x:.1f} {below.y:.1f}"/>'

    def _node(self, place: int) -> str:
        node, spot = self.result.nodes[place], self.spots[place]
        level = level_of(self.result, place)
        sign = shown(sign_of(self.result, place))
        chances = ", ".join(
            f"{name} {p:.0%}" for name, p in zip(self.result.classes, node.probabilities, strict=True)
        )
        title = f"<title>{shown(node.text)}\n{shown(node.label)} ({shown(chances)})</title>"
        folded = " folded" if place in self.collapsed and node.children else ""
        head = f'<g class="node{folded}" data-node="{place}">{title}'
        if not self.texts[place]:
            return (
                f'{head}<circle class="l{level}" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{RADIUS:g}"/>'
                f'<text class="mid sign on{level}" x="{spot.x:.1f}" y="{spot.y:.1f}" dy=".35em">{sign}</text></g>'
            )
        width = self.widths[place]
        left = spot.x - (RADIUS if self.sideways else width / 2)
        mark = f' <tspan class="sign">{sign}</tspan>' if is_marked(self.result, place) else ""
        return (
            f'{head}<rect class="l{level}" x="{left:.1f}" y="{spot.y - 10:.1f}" width="{width:.1f}" '
            f'height="20" rx="5"/><text class="mid on{level}" x="{left + width / 2:.1f}" '
            f'y="{spot.y:.1f}" dy=".35em">{shown(self.texts[place])}{mark}</text></g>'
        )
