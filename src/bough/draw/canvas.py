"""Parts of all pictures: the SVG document, the style sheet for light and dark mode, boxes and text."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Protocol

from bough.draw.palette import COLOURS, DARK_INK, DARK_NEUTRAL, DARK_PAPER, INK, KINDS, ON, PAPER

WIDEST = 1000
"""Width in pixels beyond which a sentence is drawn from top to bottom."""
ROW, GAP, MARGIN = 26.0, 8.0, 12.0
LONGEST = 40  # the most letters of a word that are drawn; the tooltip has the whole word
LETTER = 7.6  # the mean width of a letter at 13 px; letters of wide scripts count twice
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")

_KINDS = "".join(
    f".bough .l{level}{{fill:{colour}}} .bough text.on{level}{{fill:{INK}}}\n"
    for level, colour in enumerate(KINDS, len(COLOURS))
)
STYLE = f"""
.bough{{background:{PAPER};font:13px system-ui,"Segoe UI",Helvetica,Arial,sans-serif}}
.bough text{{fill:{INK}}}
.bough .mid{{text-anchor:middle}}
.bough .sign{{font-weight:600;font-size:11px}}
.bough .edge{{stroke:#9aa3ad;stroke-width:1.4;fill:none}}
.bough .folded rect{{stroke:#5c6670;stroke-width:1.4;stroke-dasharray:4 3}}
.bough .tip{{fill:#9aa3ad}} .bough .plain{{fill:#eceff2}}
.bough .relation{{font-size:11px}} .bough text.relation{{fill:#5c6670}}
.bough .back{{fill:{PAPER}}}
.bough .l0{{fill:{COLOURS[0]}}} .bough .l1{{fill:{COLOURS[1]}}} .bough .l2{{fill:{COLOURS[2]}}}
.bough .l3{{fill:{COLOURS[3]}}} .bough .l4{{fill:{COLOURS[4]}}}
.bough text.on0,.bough text.on4{{fill:{ON[0]}}} .bough text.on1,.bough text.on3,.bough text.on2{{fill:{ON[2]}}}
{_KINDS}@media (prefers-color-scheme:dark){{
.bough{{background:{DARK_PAPER}}} .bough .back{{fill:{DARK_PAPER}}} .bough text{{fill:{DARK_INK}}}
.bough .edge{{stroke:#6a737d}} .bough .tip{{fill:#6a737d}} .bough .plain{{fill:#2b323a}}
.bough text.relation{{fill:#a9b3bd}}
.bough .folded rect{{stroke:#c4ccd4}} .bough .l2{{fill:{DARK_NEUTRAL}}} .bough text.on2{{fill:{PAPER}}}
}}
"""
"""Style sheet of all pictures, for light and dark mode."""


class Drawn(Protocol):
    """Picture of a known size."""

    width: float
    height: float

    def shapes(self) -> Iterable[str]:
        """Return or yield SVG elements; the top left corner is (0, 0)."""
        ...


def document(title: str, pictures: Sequence[Drawn], *, style: bool) -> str:
    """Return an SVG document with the pictures below one another, and with the style sheet if `style` is true."""
    body: list[str] = []
    top = 0.0
    for picture in pictures:
        body += [f'<g transform="translate(0 {top:g})">', *picture.shapes(), "</g>"]
        top += picture.height
    width, title = max(picture.width for picture in pictures), shown(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="bough" role="img" aria-label="{title}" '
        f'width="{width:g}" height="{top:g}" viewBox="0 0 {width:g} {top:g}">'
        f"<title>{title}</title>{f'<style>{STYLE}</style>' if style else ''}"
        f'<rect class="back" width="100%" height="100%"/>{"".join(body)}</svg>'
    )


def clipped(word: str) -> str:
    """Return a word, shortened to `LONGEST` letters."""
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}\u2026"


def box(node: int, left: float, y: float, width: float, text: str, *, title: str, after: str = "") -> str:
    """Return the box of a node with its text; `y` is the middle of the box, which is 20 high."""
    return (
        f'<g class="node" data-node="{node}"><title>{shown(title)}</title>'
        f'<rect class="plain" x="{left:.1f}" y="{y - 10:.1f}" width="{width:.1f}" height="20" rx="5"/>'
        f'<text class="mid" x="{left + width / 2:.1f}" y="{y:.1f}" dy=".35em">{shown(text)}</text>{after}</g>'
    )


def shown(text: str) -> str:
    """Return a text escaped for XML."""
    return escape(without_controls(text), quote=True)


def without_controls(text: str) -> str:
    """Return the text with U+FFFD for control characters and lone surrogates."""
    return _CONTROL.sub("\ufffd", text)


def text_width(text: str) -> float:
    """Return the approximate width of a text."""
    return LETTER * sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)
