"""Draw dependency trees with arcs from head to dependent, from left to right or from top to bottom."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from bough.draw.canvas import GAP, MARGIN, ROW, WIDEST, box, clipped, document, shown, text_width
from bough.trees.tree import Tree

# the distance between arcs, from the words to the lowest arc, and the radius of the corners
RISE, FIRST, TURN = 22.0, 16.0, 7.0
ASIDE = 12.0  # the distance between arcs if the words are below one another


def svg(text: str, trees: Sequence[Tree], *, style: bool = True, widest: float = WIDEST) -> str:
    """Draw the dependency trees of a text's sentences, one below the other, as one SVG document.

    Args:
        text: the text, for the title.
        trees: its dependency trees.
        style: whether to include the style sheet; False for a page that includes `STYLE` itself.
        widest: a wider tree is drawn from top to bottom.

    Examples:
        >>> import bough
        >>> from bough.draw import arcs
        >>> tree = bough.Tree(parents=[1, -1], tokens=["dogs", "sleep"], relations=["nsubj", "root"])
        >>> arcs.svg("dogs sleep", [tree])[:4]
        '<svg'
    """
    firsts = accumulate((len(tree.parents) for tree in trees), initial=0)
    pictures = [Arcs(tree, first, widest) for tree, first in zip(trees, firsts, strict=False)]
    return document(f"{text[:200]}: dependencies", pictures, style=style)


class Arcs:
    """Picture of one sentence. An arc is above all arcs that it spans, so arcs of a projective tree never cross."""

    def __init__(self, tree: Tree, first: int, widest: float) -> None:
        self.first = first  # the index of its first word in the text
        self.parents = tree.parents.tolist()
        self.words = [str(token) for token in tree.tokens or ()]
        self.drawn = [clipped(word) for word in self.words]
        self.relations = [str(relation or "") for relation in tree.relations or [""] * len(self.words)]
        count = len(self.parents)
        # the level of each word's arc to its head, 0 for the root; over[i] is the highest level so far after word i
        self.levels, over = [0] * count, [0] * count
        spans = [(min(i, head), max(i, head), i) for i, head in enumerate(self.parents) if head >= 0]
        for low, high, word in sorted(spans, key=lambda span: span[1] - span[0]):
            self.levels[word] = 1 + max(over[low:high])
            over[low:high] = [self.levels[word]] * (high - low)
        names = [text_width(name) * 0.85 for name in self.relations]
        self.widths = [max(text_width(word) + 12, 26.0) for word in self.drawn]
        steps = [max(w, n + 6) + GAP for w, n in zip(self.widths, names, strict=True)]
        self.upright = sum(steps) + 2 * MARGIN > widest
        deepest = max(self.levels, default=0)
        if self.upright:
            self.left = MARGIN + ASIDE * (deepest + 1)
            self.width = self.left + max(w + n for w, n in zip(self.widths, names, strict=True)) + 20 + MARGIN
            self.height = ROW * len(self.words) + 2 * MARGIN
            self.along = [MARGIN + ROW * (i + 0.5) for i in range(len(self.words))]
        else:
            self.base = MARGIN + FIRST + RISE * deepest + 6
            self.width, self.height = sum(steps) - GAP + 2 * MARGIN, self.base + 20 + MARGIN
            ends = [MARGIN + sum(steps[:i]) for i in range(len(steps))]
            self.along = [end + (step - GAP) / 2 for end, step in zip(ends, steps, strict=True)]

    def shapes(self) -> Iterator[str]:
        """Yield the arcs, then the words."""
        for word, head in enumerate(self.parents):
            if head >= 0:
                yield self._arc(word, head)
        for word, head in enumerate(self.parents):
            relation, width = self.relations[word], self.widths[word]
            role = f"{relation or 'depends on'} of {self.words[head]}" if head >= 0 else "the root"
            left, y, mark = self.along[word] - width / 2, 0.0 if self.upright else self.base + 10, ""
            if self.upright:
                left, y, name = self.left, self.along[word], shown(relation if head >= 0 else "root")
                x = left + width + 8
                mark = f'<text class="relation" x="{x:.1f}" y="{y:.1f}" dy=".35em">{name}</text>'
            title = f"{self.words[word]}: {role}"
            yield box(self.first + word, left, y, width, self.drawn[word], title=title, after=mark)

    def _arc(self, word: int, head: int) -> str:
        # the arcs of a head start left or right of its middle, where no arc ends
        shift = 5 if word > head else -5
        start, end, level = self.along[head] + shift, self.along[word], self.levels[word]
        turn = TURN if end > start else -TURN
        if self.upright:
            x, edge = self.left - 4, self.left - 4 - ASIDE * level
            bend = min(TURN, x - edge)
            path = (
                f"M{x:.1f} {start:.1f}H{edge + bend:.1f}Q{edge:.1f} {start:.1f} {edge:.1f} {start + turn:.1f}"
                f"V{end - turn:.1f}Q{edge:.1f} {end:.1f} {edge + bend:.1f} {end:.1f}H{x:.1f}"
            )
            return f'<path class="edge" d="{path}"/>'
        y, edge = self.base - 4, self.base - 4 - FIRST - RISE * (level - 1)
        path = (
            f"M{start:.1f} {y:.1f}V{edge + TURN:.1f}Q{start:.1f} {edge:.1f} {start + turn:.1f} {edge:.1f}"
            f"H{end - turn:.1f}Q{end:.1f} {edge:.1f} {end:.1f} {edge + TURN:.1f}V{y:.1f}"
        )
        name = self.relations[word]
        middle, wide = (start + end) / 2, text_width(name) * 0.85 + 6
        label = (
            f'<rect class="back" x="{middle - wide / 2:.1f}" y="{edge - 7:.1f}" width="{wide:.1f}" height="14"/>'
            f'<text class="mid relation" x="{middle:.1f}" y="{edge:.1f}" dy=".35em">{shown(name)}</text>'
        )
        tip = f'<path class="tip" d="M{end - 3.5:.1f} {y - 3:.1f}h7l-3.5 6Z"/>'
        return f'<path class="edge" d="{path}"/>{tip}{label if name else ""}'
