"""The matrix multiplications of a training step alone, as the lower bound of its time."""

from __future__ import annotations

import numpy as np
import torch

from bough import Forest

CLASSES, SCALE, HIDDEN = 5, 5, 50  # SST's classes, SICK's ratings, and the width of the similarity's h_s


class Matmuls:
    """Products of random (m, k) and (k, n) matrices, computed in order."""

    def __init__(self, shapes: list[tuple[int, int, int]]) -> None:
        sizes = {size for m, k, n in shapes for size in ((m, k), (k, n))}
        matrices = {size: torch.randn(size) for size in sorted(sizes)}
        self.pairs = [(matrices[m, k], matrices[k, n]) for m, k, n in shapes]

    @torch.no_grad()
    def run(self) -> None:
        for left, right in self.pairs:
            torch.mm(left, right)


def sentiment_floor(forest: Forest, d: int = 150, x: int = 300) -> Matmuls:
    """Return the matmuls of a step on SST: the affine leaves, the gates level by level, the classifier.

    Each map has three: forward, and backward to its input and to its weights.
    """
    inner = forest.num_unique - forest.leaves
    levels = forest.level_sizes[1:]
    maps = [(forest.leaves, x, 2 * d), (forest.num_unique, d, CLASSES)]
    shapes = [(n, 2 * d, 5 * d) for n in levels] + [(n, 5 * d, 2 * d) for n in reversed(levels)]
    return Matmuls([*_trained(maps), *shapes, (2 * d, inner, 5 * d)])


def relatedness_floor(forest: Forest, d: int = 150, x: int = 300) -> Matmuls:
    """Return the matmuls of a step on SICK. Fixed vectors need no gradient, so the input map has two, not three."""
    inner, edges, pairs = forest.num_unique - forest.leaves, len(forest.children), len(forest) // 2
    head = [(pairs, 2 * d, HIDDEN), (pairs, HIDDEN, SCALE)]
    levels = list(zip(forest.level_sizes, forest.edge_sizes, strict=True))[1:]
    shapes = [(forest.num_unique, x, 3 * d), (3 * d, forest.num_unique, x)]
    for nodes, children in levels:
        shapes += [(nodes, d, 2 * d), (children, d, d)]
    for nodes, children in reversed(levels):
        shapes += [(nodes, 2 * d, d), (children, d, d)]
    return Matmuls([*shapes, (d, inner, 2 * d), (d, edges, d), *_trained(head)])


def shared_floor(forest: Forest, arity: int, d: int = 150, x: int = 300) -> Matmuls:
    """Return the matmuls of a compiled step, which computes every distinct input and every distinct child once.

    The forest shares equal subtrees. `arity` is 2 for the step on SST and 0 for the step on SICK.
    """
    counts = [count for count in first_read(forest, arity) if count]
    gates = (5 if arity else 3) * d  # u, i, f_1, f_2, o; without an output gate u, i, f
    shapes = [(n, d, gates) for n in counts] + [(n, gates, d) for n in reversed(counts)]
    shapes.append((d, sum(counts), gates))
    if arity:  # the word vectors are trained too
        return Matmuls([*shapes, *_trained([(forest.leaves, x, 2 * d), (forest.num_nodes, d, CLASSES)])])
    inputs, pairs = len(forest.inputs), len(forest) // 2
    head = [(pairs, 2 * d, HIDDEN), (pairs, HIDDEN, SCALE)]
    return Matmuls([*shapes, (inputs, x, 3 * d), (3 * d, inputs, x), *_trained(head)])


def first_read(forest: Forest, arity: int) -> list[int]:
    """Return for each level the number of distinct children (and slots, if `arity` is not 0) new at that level."""
    places = forest.edge_places.numpy() if arity else np.zeros(len(forest.children), dtype=np.int64)
    keys = forest.children.numpy() * max(arity, 1) + places
    _, some = np.unique(keys, return_index=True)  # edges are sorted by level, so the first is the lowest
    bounds = [part.stop for part in forest.edge_slices]
    counts: list[int] = np.diff(np.searchsorted(np.sort(some), [0, *bounds])).tolist()
    return counts


def _trained(maps: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the matmuls of linear maps from k to n columns for m rows: forward and both gradients."""
    return [shape for m, k, n in maps for shape in ((m, k, n), (m, n, k), (n, m, k))]
