"""Draw trees without predictions: as boxes, or with arcs for a sentence with dependencies."""

from collections.abc import Iterable, Iterator, Sequence

from bough.draw.arcs import Arcs
from bough.draw.canvas import GAP, MARGIN, ROW, WIDEST, Drawn, box, clipped, document, shown, text_width
from bough.draw.graph_svg import Levels
from bough.trees.graph import Graph
from bough.trees.tree import Tree

MOST = 500  # the most nodes that are drawn: a larger picture would not be readable
STEP, INDENT = 38.0, 22.0  # the distance between levels, from top to bottom and from left to right


def svg(
    trees: Sequence[Tree | Graph], title: str, *, caption: str = "", widest: float = WIDEST
) -> str | None:
    """Draw the first trees, up to `MOST` nodes, below one another as one SVG document.

    A sentence with dependencies is drawn with arcs over the words, any other tree or graph as boxes. If a
    tree is wider than `widest`, its nodes are below one another. Return None if the first tree has
    more than `MOST` nodes.
    """
    pictures: list[Drawn] = [Caption(caption)] if caption else []
    nodes = done = 0
    for tree in trees:
        nodes += len(tree)
        if nodes > MOST:
            break
        if isinstance(tree, Graph):
            pictures.append(Levels(tree))
        else:
            pictures.append(Arcs(tree, 0, widest) if is_sentence(tree) else Boxes(tree, widest))
        done += 1
    if not done:
        return None
    if done < len(trees):
        pictures.append(Caption(f"and {len(trees) - done:,} more"))
    return document(title, pictures, style=True)


def is_sentence(tree: Tree) -> bool:
    """Return whether every node is a word with a relation, and some word precedes its head.

    Syntax trees of programs have relations, too, but their nodes are numbered from the root.
    """
    above = tree.parents.tolist()
    named = all(
        column is not None and all(column[node] is not None for node, head in enumerate(above) if head >= 0)
        for column in (tree.tokens, tree.relations)
    )
    return named and any(head > node for node, head in enumerate(above))


class Caption:
    """Picture of a line of text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.width, self.height = text_width(text) + 2 * MARGIN, ROW + MARGIN / 2

    def shapes(self) -> Iterable[str]:
        """Return the text."""
        return [f'<text x="{MARGIN:g}" y="{ROW * 0.75:g}">{shown(self.text)}</text>']


class Boxes:
    """Picture of one tree: each node above the middle of its children or, if that is too wide, in its own row."""

    def __init__(self, tree: Tree, widest: float) -> None:
        self.tree = tree
        self.order = tree.preorder.tolist()
        self.names = {node: clipped(tree.node_name(node)) for node in self.order}
        self.boxes = {node: max(26.0, text_width(name) + 12) for node, name in self.names.items()}
        room: dict[int, float] = {}  # the width of each subtree
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
        self.spots = spots  # the left edge and the vertical middle of each box
        self.width = max(left + self.boxes[node] for node, (left, _) in spots.items()) + MARGIN
        self.height = max(middle for _, middle in spots.values()) + ROW / 2 + MARGIN

    def shapes(self) -> Iterator[str]:
        """Yield the edges, then the boxes over them."""
        boxes, relations = self.boxes, self.tree.relations
        for node in self.order:
            left, top = self.spots[node]
            for child in self.tree.children[node]:
                at, middle = self.spots[child]
                if self.sideways:
                    path = f"M{left + 10:.1f} {top:.1f}V{middle:.1f}H{at:.1f}"
                else:
                    start, end = left + boxes[node] / 2, at + boxes[child] / 2
                    path = f"M{start:.1f} {top:.1f}L{end:.1f} {middle:.1f}"
                yield f'<path class="edge" d="{path}"/>'
        for node in self.order:
            title = f"{node}: {self.tree.node_name(node)}"
            if relations is not None and relations[node] is not None:
                title += f" ({relations[node]})"
            yield box(node, *self.spots[node], boxes[node], self.names[node], title=title)
