"""Draw scored trees as SVG: what can be drawn, and how."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from bough.draw.canvas import GAP, MARGIN, ROW, WIDEST, clipped, document, shown, text_width
from bough.draw.palette import NEUTRAL, level_of_class, sign_of_class

STEP, RADIUS = 34.0, 10.0  # from a level of the tree to the next; of a node without a word


class Node(Protocol):
    """A phrase; `children` are places among the nodes, `word` is the place of the node's own word, if any."""

    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def text(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def probabilities(self) -> Sequence[float]: ...
    @property
    def children(self) -> Sequence[int]: ...
    @property
    def word(self) -> int | None: ...


class Scored(Protocol):
    """A text with its phrases, each tree in preorder; `roots` says where each tree begins."""

    @property
    def text(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def ordered(self) -> bool: ...
    @property
    def tokens(self) -> Sequence[str]: ...
    @property
    def nodes(self) -> Sequence[Node]: ...
    @property
    def roots(self) -> Sequence[int]: ...


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


def level_of(result: Scored, place: int) -> int:
    """Return a phrase's level on the scale of five; see `level_of_class`."""
    number = result.classes.index(result.nodes[place].label)
    return level_of_class(number, len(result.classes), ordered=result.ordered)


def sign_of(result: Scored, place: int) -> str:
    """Return the sign that tells a phrase's class besides its colour."""
    return sign_of_class(level_of(result, place), result.nodes[place].label)


def below(result: Scored, root: int, *, whole: frozenset[int] = frozenset()) -> Iterator[int]:
    """Yield a node and all below it, in preorder. Leave out what is below a node in `whole`."""
    stack = [root]
    while stack:
        place = stack.pop()
        yield place
        if place not in whole:
            stack.extend(reversed(result.nodes[place].children))


class _Picture:
    """One sentence's tree. Words stand in a row, or, where that is too wide, one below the other."""

    def __init__(self, result: Scored, root: int, collapsed: frozenset[int], widest: float) -> None:
        self.result, self.collapsed = result, collapsed
        self.places = list(below(result, root, whole=collapsed))
        self.texts: dict[
            int, str
        ] = {}  # the word drawn at a node: a leaf's text, or a dependency node's own word
        self.marks: dict[int, str] = {}  # the sign of a node's class; a neutral word has none
        heights: dict[int, int] = {}
        for place in reversed(self.places):
            node, children = result.nodes[place], self._children(place)
            heights[place] = 1 + max((heights[child] for child in children), default=-1)
            own = node.word is not None and bool(children)
            word = result.tokens[node.word or 0] if own else "" if children else node.text
            self.texts[place] = clipped(word)
            self.marks[place] = sign_of(result, place) if level_of(result, place) != NEUTRAL else ""
        spoken = [place for place in self.places if self.texts[place]]
        self.widths = {}
        for place in self.places:
            mark = f" {self.marks[place]}" if self.marks[place] else ""
            self.widths[place] = max(26.0, text_width(self.texts[place] + mark) + 12)
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
        for place in sorted(spoken, key=self._first):
            size = ROW if self.sideways else self.widths[place]
            along[place] = at + size / 2
            at += size + (0.0 if self.sideways else GAP)
        for place in reversed(self.places):
            if place not in along:
                children = self._children(place)
                along[place] = sum(along[child] for child in children) / len(children)
        self.spots: dict[int, tuple[float, float]] = {}  # x and y
        for place in self.places:
            rise = STEP * (heights[root] - heights[place]) + MARGIN + RADIUS
            self.spots[place] = (rise, along[place]) if self.sideways else (along[place], rise)

    def _children(self, place: int) -> Sequence[int]:
        return () if place in self.collapsed else self.result.nodes[place].children

    def _first(self, place: int) -> int:
        """Return the position of a drawn word among the words."""
        node = self.result.nodes[place]
        return node.span[0] if node.word is None or place in self.collapsed else node.word

    def shapes(self) -> Iterator[str]:
        """Yield the edges, then the nodes over them."""
        for place in self.places:
            x, y = self.spots[place]
            for child in self._children(place):
                to_x, to_y = self.spots[child]
                way = f"V{to_y:.1f}H{to_x:.1f}" if self.sideways else f"L{to_x:.1f} {to_y:.1f}"
                yield f'<path class="edge" d="M{x:.1f} {y:.1f}{way}"/>'
        for place in self.places:
            yield self._node(place)

    def _node(self, place: int) -> str:
        node, (x, y) = self.result.nodes[place], self.spots[place]
        level = level_of(self.result, place)
        chances = ", ".join(
            f"{name} {p:.0%}" for name, p in zip(self.result.classes, node.probabilities, strict=True)
        )
        title = f"<title>{shown(node.text)}\n{shown(node.label)} ({shown(chances)})</title>"
        folded = " folded" if place in self.collapsed and node.children else ""
        head = f'<g class="node{folded}" data-node="{place}">{title}'
        if not self.texts[place]:
            sign = shown(sign_of(self.result, place))
            return (
                f'{head}<circle class="l{level}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:g}"/>'
                f'<text class="mid sign on{level}" x="{x:.1f}" y="{y:.1f}" dy=".35em">{sign}</text></g>'
            )
        width = self.widths[place]
        left = x - (RADIUS if self.sideways else width / 2)
        mark = f' <tspan class="sign">{shown(self.marks[place])}</tspan>' if self.marks[place] else ""
        return (
            f'{head}<rect class="l{level}" x="{left:.1f}" y="{y - 10:.1f}" width="{width:.1f}" '
            f'height="20" rx="5"/><text class="mid on{level}" x="{left + width / 2:.1f}" '
            f'y="{y:.1f}" dy=".35em">{shown(self.texts[place])}{mark}</text></g>'
        )
