"""The matmuls that a compiled step really does: every distinct input and every distinct child once."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.constituency import CLASSES
from benchmarks.dependency import HIDDEN, SCALE
from bough import Forest


class Done:
    """The shapes of a step's matmuls, run on random numbers and nothing else.

    `first` counts the children that a level is the first to read: each is projected once, there.
    """

    def __init__(self, forest: Forest, arity: int, d: int = 150, x: int = 300) -> None:
        self.d, self.x, self.arity = d, x, arity
        inputs = forest.leaves if arity else len(forest.inputs)
        self.first = _first_read(forest, arity)
        gates = 5 if arity else 3  # u, i, f_1, f_2, o; without an output gate u, i, f
        maps = 2 if arity else 3  # of the input: c and o of a leaf, or u, i, f
        rows = sum(self.first)
        self.rows, self.gates = torch.randn(max(rows, 1), d), torch.randn(max(rows, 1), gates * d)
        self.U, self.U_t = torch.randn(d, gates * d), torch.randn(gates * d, d)
        self.inputs, self.outputs = torch.randn(inputs, x), torch.randn(inputs, maps * d)
        self.W, self.W_t = torch.randn(maps * d, x), torch.randn(x, maps * d)
        wide, narrow = (d, CLASSES) if arity else (2 * d, HIDDEN)
        top = forest.size if arity else len(forest) // 2
        self.heads = [(torch.randn(top, wide), torch.randn(wide, narrow), torch.randn(top, narrow))]
        if not arity:
            self.heads.append((torch.randn(top, HIDDEN), torch.randn(HIDDEN, SCALE), torch.randn(top, SCALE)))

    @torch.no_grad()
    def run(self) -> None:
        torch.mm(self.inputs, self.W_t)
        starts = np.cumsum([0, *self.first]).tolist()
        spans = [
            slice(start, start + count) for start, count in zip(starts, self.first, strict=False) if count
        ]
        for span in spans:
            torch.mm(self.rows[span], self.U)
        for below, weight, above in self.heads:
            torch.mm(below, weight)
            torch.mm(above, weight.t())
            torch.mm(above.t(), below)
        for span in reversed(spans):
            torch.mm(self.gates[span], self.U_t)
        torch.mm(self.rows.t(), self.gates)
        torch.mm(self.outputs.t(), self.inputs)
        if self.arity:  # the words' vectors learn too
            torch.mm(self.outputs, self.W)


def _first_read(forest: Forest, arity: int) -> list[int]:
    """For each level, the distinct children, by their slots if there are any, that no lower level has read."""
    places = forest.edge_places.numpy() if arity else np.zeros(len(forest.children), dtype=np.int64)
    keys = forest.children.numpy() * max(arity, 1) + places
    _, some = np.unique(keys, return_index=True)  # edges are sorted by level, so the first is the lowest
    bounds = [part.stop for part in forest.edge_slices]
    found: list[int] = np.diff(np.searchsorted(np.sort(some), [0, *bounds])).tolist()
    return found
