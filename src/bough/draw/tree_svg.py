"""Trees without scores as pictures: boxes below one another, or arcs over a sentence with its dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bough.draw.arcs import Arcs
from bough.draw.canvas import GAP, MARGIN, ROW, WIDEST, Drawn, clipped, document, shown, text_width
from bough.trees.tree import Tree

MOST = 500  # nodes that are drawn: a picture of more says less than their number
STEP, INDENT = 38.0, 22.0  # from a level of the tree to the next; the same where each node has a row


def svg(trees: Sequence[Tree], title: str, *, caption: str = "", widest: float = WIDEST) -> str | None:
    """Trees one below the other, as one SVG document: those at the start that have `MOST` nodes together.

    A sentence with its dependencies is drawn with arcs over the words, any other tree as boxes; a tree wider than
    `widest` runs from top to bottom. None where even the first tree has more than `MOST` nodes.
    """
    pictures: list[Drawn] = [Caption(caption)] if caption else []
    nodes = done = 0
    for tree in trees:
        nodes += len(tree.parents)
        if nodes > MOST:
            break
        pictures.append(Arcs(tree, 0, widest) if is_sentence(tree) else Boxes(tree, widest))
        done += 1
    if not done:
        return None
    if done < len(trees):
        pictures.append(Caption(f"and {len(trees) - done:,} more"))
    return document(title, pictures, style=True)


def is_sentence(tree: Tree) -> bool:
    """Whether every node is a word with a relation, and some word stands before its head.

    Syntax trees of programs have relations too, but are numbered from the root on.
    """
    above = tree.parents.tolist()
    named = all(
        column is not None and all(column[node] is not None for node, head in enumerate(above) if head >= 0)
        for column in (tree.tokens, tree.relations)
    )
    return named and any(head > node for node, head in enumerate(above))


class Caption:
    """A line of text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.width, self.height = text_width(text) + 2 * MARGIN, ROW + MARGIN / 2

    def shapes(self) -> Iterable[str]:
        """The text."""
        return [f'<text x="{MARGIN:g}" y="{ROW * 0.75:g}">{shown(self.text)}</text>']


class Boxes:
    """One tree: a node above the middle of its children, or, where that is too wide, each in a row of its own."""

    def __init__(self, tree: Tree, widest: float) -> None:
        self.tree = tree
        self.order = tree.preorder.tolist()
        self.names = {node: clipped(tree.node_name(node)) for node in self.order}
        self.boxes = {node: max(26.0, text_width(name) + 12) for node, name in self.names.items()}
        room: dict[int, float] = {}  # how wide each subtree is
        for node in reversed(self.order):
            below = [room[child] for child in tree.children[node]]
            room[node] = max(self.boxes[node], sum(below) + GAP * (len(below) - 1))
        self.sideways = room[tree.root] + 2 * MARGIN > widest
        start, depth = {tree.root: MARGIN}, {tree.root: 0}
        spots: dict[int, tuple[float, float]] = {}
        for row, node in enumerate(self.order):
            children = tree.children[node]
            at = start[node] + (room[node] - sum(room[c] for c in children) - GAP * (len(children) - 1)) / 2
            for child in children:
                start[child], depth[child] = at, depth[node] + 1
                at += room[child] + GAP
            if self.sideways:
                spots[node] = MARGIN + INDENT * depth[node], MARGIN + ROW * (row + 0.5)
            else:
                left = start[node] + (room[node] - self.boxes[node]) / 2
                spots[node] = left, MARGIN + ROW / 2 + STEP * depth[node]
        self.spots = spots  # the left edge of each box and its middle
        self.width = max(left + self.boxes[node] for node, (left, _) in spots.items()) + MARGIN
        self.height = max(middle for _, middle in spots.values()) + ROW / 2 + MARGIN

    def shapes(self) -> Iterator[str]:
        """The edges, then the boxes over them."""
        for node in self.order:
            for child in self.tree.children[node]:
                yield self._edge(node, child)
        for node in self.order:
            yield self._box(node)

    def _edge(self, above: int, below: int) -> str:
        (left, top), (at, middle) = self.spots[above], self.spots[below]
        if self.sideways:
            path = f"M{left + 10:.1f} {top:.1f}V{middle:.1f}H{at:.1f}"
        else:
            path = (
                f"M{left + self.boxes[above] / 2:.1f} {top:.1f}L{at + self.boxes[below] / 2:.1f} {middle:.1f}"
            )
        return f'<path class="edge" d="{path}"/>'

    def _box(self, node: int) -> str:
        (left, middle), width = self.spots[node], self.boxes[node]
        relation = self.tree.relations[node] if self.tree.relations else None
        told = f"{node}: {self.tree.node_name(node)}" + ("" if relation is None else f" ({relation})")
        return (
            f'<g class="node" data-node="{node}"><title>{shown(told)}</title>'
            f'<rect class="plain" x="{left:.1f}" y="{middle - 10:.1f}" width="{width:.1f}" height="20" rx="5"/>'
            f'<text class="mid" x="{left + width / 2:.1f}" y="{middle:.1f}" dy=".35em">{shown(self.names[node])}</text>'
            "</g>"
        )
