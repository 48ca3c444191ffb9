"""Draw results: SVG, and lines for a terminal."""

from bough.draw.canvas import STYLE, WIDEST
from bough.draw.palette import COLOURS
from bough.draw.scored_svg import svg
from bough.draw.terminal import Line, branches, lines

__all__ = ["COLOURS", "STYLE", "WIDEST", "Line", "branches", "lines", "svg"]
