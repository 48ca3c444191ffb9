"""Binary bracketings over a chart of span scores: how likely each span is, and the best tree.

A chart is (B, N + 1, N + 1): `scores[b, i, w]` is the score of the span of `w` words that starts at word i.
The score of a tree is the sum over its spans of two words and more. All sentences of a batch and all spans
of one width are done at once; a shorter sentence simply ends at its own width.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float32]
Spans = list[tuple[int, int]]


def span_probabilities(scores: Tensor, lengths: Tensor) -> Tensor:
    """The chart of the probability that a span is in the tree; 0 for single words."""
    _, ways = inside(scores, lengths)
    return outside(scores.new_ones(len(scores)), lengths, ways, scores.shape)


def inside(scores: Tensor, lengths: Tensor) -> tuple[Tensor, list[Tensor]]:
    """(B,) log of the sum over all trees; and for each width from 2 the log probability of each way to split."""
    batch, size, _ = scores.shape
    starts = torch.zeros_like(scores)  # inside score by start and width
    ends = torch.zeros_like(scores)  # the same by end and N - width, so that a row of splits is a slice
    ways: list[Tensor] = []
    for width in range(2, int(lengths.max()) + 1):
        count = size - width
        joined = starts[:, :count, 1:width] + ends[:, width:, size - width : size - 1]
        total = torch.logsumexp(joined, dim=2)
        ways.append(joined - total[:, :, None])
        total = total + scores[:, :count, width]
        starts[:, :count, width] = total
        ends[:, width:, size - 1 - width] = total
    return starts[torch.arange(batch), 0, lengths], ways


def outside(weight: Tensor, lengths: Tensor, ways: list[Tensor], shape: torch.Size) -> Tensor:
    """The probability of each span, top down: a span shares its own among the ways to split it.

    `weight` (B,) is that of each whole sentence.
    """
    batch, size, _ = shape
    starts = weight.new_zeros(shape)
    ends = weight.new_zeros(shape)
    starts[torch.arange(batch), 0, lengths] = weight
    for width in range(len(ways) + 1, 1, -1):
        count = size - width
        here = starts[:, :count, width] + ends[:, width:, size - 1 - width]
        starts[:, :count, width] = here
        share = ways[width - 2].exp() * here[:, :, None]
        starts[:, :count, 1:width] += share
        ends[:, width:, size - width : size - 1] += share
    starts[:, :, :2] = 0  # words are no decision
    return starts


def best_spans(scores: Floats, lengths: NDArray[np.int64]) -> list[Spans]:
    """The spans (start, end) of two words and more of each sentence's best tree, in preorder (CKY)."""
    batch, size, _ = scores.shape
    starts = np.zeros_like(scores)
    ends = np.zeros_like(scores)
    splits = np.zeros(scores.shape, dtype=np.int16)
    for width in range(2, int(lengths.max(initial=0)) + 1):
        count = size - width
        joined = starts[:, :count, 1:width] + ends[:, width:, size - width : size - 1]
        choice = joined.argmax(axis=2)
        best = np.take_along_axis(joined, choice[:, :, None], axis=2)[:, :, 0] + scores[:, :count, width]
        splits[:, :count, width] = choice + 1
        starts[:, :count, width] = best
        ends[:, width:, size - 1 - width] = best
    return [_trace(splits[b].tolist(), int(lengths[b])) for b in range(batch)]


def _trace(splits: list[list[int]], length: int) -> Spans:
    spans: Spans = []
    stack = [(0, length)]
    while stack:
        start, end = stack.pop()
        if end - start < 2:
            continue
        spans.append((start, end))
        middle = start + splits[start][end - start]
        stack.append((middle, end))
        stack.append((start, middle))
    return spans
