"""A scored tree as a picture: our own small SVG, and lines for a terminal.

Colours run from orange (negative) over grey to blue (positive), which people with any colour vision tell
apart; each class has a sign as well. The picture brings its own style sheet, with a dark one beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bough.pipeline.results import Phrase, Sentiment

SIGNS = {2: ("\u2212", "+"), 3: ("\u2212", "0", "+"), 5: ("\u2212\u2212", "\u2212", "0", "+", "++")}
LEVELS = {2: (1, 3), 3: (1, 2, 3), 5: (0, 1, 2, 3, 4)}
COLOURS = ("#b4500a", "#f0a25c", "#dcdcdc", "#86b6e6", "#1e5aa0")  # by level; text on the outer two is white
DARK_NEUTRAL = "#5a5f66"
WIDEST = 1000  # units; a sentence that is wider from left to right runs from top to bottom
ROW, STEP, GAP, MARGIN, RADIUS = 26.0, 34.0, 8.0, 12.0, 10.0
LONGEST = 40  # letters of a word that are drawn; the whole of it stands in the tooltip
LETTER = 7.6  # the mean width of a letter at 13 units; wide scripts count double
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")

STYLE = f"""
.bough{{background:#fff;font:13px system-ui,"Segoe UI",Helvetica,Arial,sans-serif}}
.bough text{{fill:#1b1f24}}
.bough .mid{{text-anchor:middle}}
.bough .sign{{font-weight:600;font-size:11px}}
.bough .edge{{stroke:#9aa3ad;stroke-width:1.4;fill:none}}
.bough .folded rect{{stroke:#5c6670;stroke-width:1.4;stroke-dasharray:4 3}}
.bough .tip{{fill:#9aa3ad}} .bough .plain{{fill:#eceff2}}
.bough .relation{{font-size:11px}} .bough text.relation{{fill:#5c6670}}
.bough .back{{fill:#fff}}
.bough .l0{{fill:{COLOURS[0]}}} .bough .l1{{fill:{COLOURS[1]}}} .bough .l2{{fill:{COLOURS[2]}}}
.bough .l3{{fill:{COLOURS[3]}}} .bough .l4{{fill:{COLOURS[4]}}}
.bough text.on0,.bough text.on4{{fill:#fff}} .bough text.on1,.bough text.on3,.bough text.on2{{fill:#1b1f24}}
@media (prefers-color-scheme:dark){{
.bough{{background:#14181d}} .bough .back{{fill:#14181d}} .bough text{{fill:#e8ebee}}
.bough .edge{{stroke:#6a737d}} .bough .tip{{fill:#6a737d}} .bough .plain{{fill:#2b323a}}
.bough text.relation{{fill:#a9b3bd}}
.bough .folded rect{{stroke:#c4ccd4}} .bough .l2{{fill:{DARK_NEUTRAL}}} .bough text.on2{{fill:#fff}}
}}
"""


class Spot(NamedTuple):
    """Where a node is drawn."""

    x: float
    y: float


@dataclass(frozen=True)
class Line:
    """A phrase on a line of its own: what stands before it, its sign, its level (0 to 4) and its text."""

    before: str
    sign: str
    level: int
    text: str


def svg(
    result: Sentiment,
    *,
    style: bool = True,
    only: int | None = None,
    collapsed: Collection[int] = (),
    widest: float = WIDEST,
) -> str:
    """The trees of a result, one below the other, as one SVG document.

    `only` is the place of the one node that is drawn, with what is below it; a node in `collapsed` is drawn
    as if its phrase were a word; a tree wider than `widest` runs from top to bottom. Without `style` it is
    for a page that has `STYLE` in a style sheet of its own.
    """
    count = len(result.nodes)
    for place in (*collapsed, *(() if only is None else (only,))):
        if not 0 <= place < count:
            raise ValueError(f"no node {place}; there are {count}, counted from 0")
    roots = result.roots if only is None else (only,)
    pictures = [_Picture(result, root, frozenset(collapsed) - {only}, widest) for root in roots]
    width = max(picture.width for picture in pictures)
    height = sum(picture.height for picture in pictures)
    body: list[str] = []
    top = 0.0
    for picture in pictures:
        body += [f'<g transform="translate(0 {top:g})">', *picture.shapes(), "</g>"]
        top += picture.height
    return document(f"{result.text[:200]}: {result.label}", width, height, body, style=style)


def clipped(word: str) -> str:
    """A word as it is drawn: no longer than `LONGEST`."""
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}\u2026"


def document(title: str, width: float, height: float, body: Collection[str], *, style: bool) -> str:
    """An SVG document around some shapes."""
    title = shown(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="bough" role="img" aria-label="{title}" '
        f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}">'
        f"<title>{title}</title>{f'<style>{STYLE}</style>' if style else ''}"
        f'<rect class="back" width="100%" height="100%"/>{"".join(body)}</svg>'
    )


def lines(result: Sentiment) -> list[Line]:
    """The trees as lines, a phrase above its parts; a phrase whose parts are all like itself stays whole."""
    found: list[Line] = []
    for root in result.roots:
        stack: list[tuple[int, str, str]] = [(root, "", "")]
        while stack:
            place, before, below = stack.pop()
            node = result.nodes[place]
            level, sign = level_of(result, node)
            text = " ".join(_CONTROL.sub("\ufffd", node.text).split())
            found.append(Line(before, sign, level, text))
            children = [] if _uniform(result, place) else list(node.children)
            for child in reversed(children):
                last = child == children[-1]
                stack.append(
                    (
                        child,
                        below + ("\u2514\u2500 " if last else "\u251c\u2500 "),
                        below + ("   " if last else "\u2502  "),
                    )
                )
    return found


def level_of(result: Sentiment, node: Phrase) -> tuple[int, str]:
    """A phrase's place on the scale of five colours, and its sign."""
    count = len(result.classes)
    place = result.classes.index(node.label)
    return LEVELS[count][place], SIGNS[count][place]


def shown(text: str) -> str:
    """A text that XML can hold: control characters and lone surrogates replaced, the rest escaped."""
    return escape(_CONTROL.sub("\ufffd", text), quote=True)


def text_width(text: str) -> float:
    """About how wide a text is."""
    return LETTER * sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)


def _uniform(result: Sentiment, root: int) -> bool:
    label = result.nodes[root].label
    return all(result.nodes[place].label == label for place in _subtree(result, root))


def _subtree(result: Sentiment, root: int, collapsed: Collection[int] = ()) -> Iterator[int]:
    stack = [root]
    while stack:
        place = stack.pop()
        yield place
        if place not in collapsed:
            stack.extend(reversed(result.nodes[place].children))


class _Picture:
    """One sentence's tree. Words stand in a row, or, where that is too wide, one below the other."""

    def __init__(self, result: Sentiment, root: int, collapsed: Collection[int], widest: float) -> None:
        self.result, self.root, self.collapsed = result, root, collapsed
        self.places = list(_subtree(result, root, collapsed))
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

    def _children(self, place: int) -> tuple[int, ...]:
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
        level, sign = level_of(self.result, self.result.nodes[place])
        return self.texts[place] if level == 2 else f"{self.texts[place]} {sign}"

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
        level, sign = level_of(self.result, node)
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
        mark = "" if level == 2 else f' <tspan class="sign">{sign}</tspan>'
        return (
            f'{head}<rect class="l{level}" x="{left:.1f}" y="{spot.y - 10:.1f}" width="{width:.1f}" '
            f'height="20" rx="5"/><text class="mid on{level}" x="{left + width / 2:.1f}" '
            f'y="{spot.y:.1f}" dy=".35em">{shown(self.texts[place])}{mark}</text></g>'
        )
