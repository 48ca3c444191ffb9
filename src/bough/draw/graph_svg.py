"""Draw a graph whose nodes may have several parents: roots at the top, each child below all of its parents."""

from collections.abc import Iterator

from bough.draw.canvas import GAP, MARGIN, ROW, box, clipped, text_width
from bough.trees.graph import Graph

STEP = 44.0  # the distance between levels


class Levels:
    """Picture of one graph: a row of boxes for each level, ordered by the middle of their parents."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = [clipped(graph.node_name(node)) for node in range(len(graph))]
        self.boxes = [max(26.0, text_width(name) + 12) for name in self.names]
        parents: list[list[int]] = [[] for _ in self.names]
        for child, parent in graph.edges.tolist():
            parents[child].append(parent)
        highest = int(graph.heights.max())
        rows: list[list[int]] = [[] for _ in range(highest + 1)]
        for node, height in enumerate(graph.heights.tolist()):
            rows[highest - height].append(node)
        widths = [sum(self.boxes[node] + GAP for node in row) - GAP for row in rows]
        self.width, self.height = max(widths) + 2 * MARGIN, 2 * MARGIN + ROW + STEP * highest
        middles: dict[int, float] = {}
        self.spots: dict[int, tuple[float, float]] = {}  # the left edge and the vertical middle of each box
        for level, (row, width) in enumerate(zip(rows, widths, strict=True)):
            wanted = {
                node: sum(middles[parent] for parent in parents[node]) / max(1, len(parents[node]))
                for node in row
            }
            left = (self.width - width) / 2
            for node in sorted(row, key=wanted.__getitem__):
                self.spots[node] = left, MARGIN + ROW / 2 + STEP * level
                middles[node] = left + self.boxes[node] / 2
                left += self.boxes[node] + GAP
        self.middles = middles

    def shapes(self) -> Iterator[str]:
        """Yield the edges, then the boxes over them."""
        for child, parent in self.graph.edges.tolist():
            ends = (f"{self.middles[node]:.1f} {self.spots[node][1]:.1f}" for node in (parent, child))
            yield f'<path class="edge" d="M{next(ends)}L{next(ends)}"/>'
        for node, name in enumerate(self.names):
            title = f"{node}: {self.graph.node_name(node)}"
            yield box(node, *self.spots[node], self.boxes[node], name, title=title)
