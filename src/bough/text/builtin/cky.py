"""Find the best binary tree by CKY, and the probability of every span by inside-outside.

A chart is (B, N + 1, N + 1): `scores[b, i, w]` is the score of the span of `w` words that starts at
word i. The score of a tree is the sum over its spans of two words and more. All sentences of a
batch and all spans of one width are computed at once; the result of a shorter sentence is
read at the width of its length. Prediction runs in C where it is compiled: `nn/kernels/chart.h`.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def span_probabilities(scores: Tensor, lengths: Tensor) -> Tensor:
    """Return the chart of the probability that a span is in the tree; 0 for single words."""
    _, shares = inside(scores, lengths)
    return outside(scores.new_ones(len(scores)), lengths, shares, scores.shape)


def inside(scores: Tensor, lengths: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Return the log partition function (B,), and by width the probability of each split point."""
    batch, size, _ = scores.shape
    starts = torch.zeros_like(scores)  # inside score by start and width
    ends = torch.zeros_like(scores)  # the same by end and N - width, so that a row of splits is a slice
    shares: list[Tensor] = []
    for width in range(2, int(lengths.max()) + 1):
        count = size - width
        joined = starts[:, :count, 1:width] + ends[:, width:, size - width : size - 1]
        # logsumexp by hand: the shares that `outside` needs come from the same exponentials
        top = joined.amax(dim=2, keepdim=True)
        share = joined.sub_(top).exp_()
        total = share.sum(dim=2, keepdim=True)
        shares.append(share.div_(total))
        here = (top + total.log()).squeeze(2) + scores[:, :count, width]
        starts[:, :count, width] = here
        ends[:, width:, size - 1 - width] = here
    return starts[torch.arange(batch), 0, lengths], shares


def outside(weight: Tensor, lengths: Tensor, shares: list[Tensor], shape: torch.Size) -> Tensor:
    """Return the probability of each span, top down.

    The probability of a span is divided among its split points. `weight` (B,) is the probability of the
    span of the whole sentence: 1, or the gradient of the log partition function.
    """
    batch, size, _ = shape
    starts = weight.new_zeros(shape)
    ends = weight.new_zeros(shape)
    starts[torch.arange(batch), 0, lengths] = weight
    for width in range(len(shares) + 1, 1, -1):
        count = size - width
        here = starts[:, :count, width] + ends[:, width:, size - 1 - width]
        starts[:, :count, width] = here
        share = shares[width - 2] * here[:, :, None]
        starts[:, :count, 1:width] += share
        ends[:, width:, size - width : size - 1] += share
    starts[:, :, :2] = 0  # every tree contains all single words
    return starts


def best_parents(scores: Floats, lengths: Ints) -> list[Ints]:
    """Return the parents of each sentence's best binary tree, nodes in preorder (CKY)."""
    batch, size, _ = scores.shape
    # the chart by start and by end, so that the two parts of every split are two slices
    starts = np.zeros_like(scores)
    ends = np.zeros_like(scores)
    splits = np.zeros(scores.shape, dtype=np.int64)
    for width in range(2, int(lengths.max(initial=0)) + 1):
        count = size - width
        joined = starts[:, :count, 1:width] + ends[:, width:, size - width : size - 1]
        choice = joined.argmax(axis=2)
        best = np.take_along_axis(joined, choice[:, :, None], axis=2)[:, :, 0] + scores[:, :count, width]
        splits[:, :count, width] = choice + 1
        starts[:, :count, width] = best
        ends[:, width:, size - 1 - width] = best
    # trace the splits back, one level of all trees at a time
    parents = np.full((batch, 2 * size), -1)
    sentence, width_of = np.arange(batch), lengths
    start = node = np.zeros(batch, dtype=np.int64)
    while len(sentence):
        wide = width_of > 1
        sentence, start, width_of, node = sentence[wide], start[wide], width_of[wide], node[wide]
        left = splits[sentence, start, width_of]
        right = node + 2 * left  # preorder: the left half of m words takes the next 2m - 1 numbers
        parents[sentence, node + 1] = parents[sentence, right] = node
        sentence = np.concatenate([sentence, sentence])
        start = np.concatenate([start, start + left])
        width_of = np.concatenate([left, width_of - left])
        node = np.concatenate([node + 1, right])
    return [row[: 2 * length - 1] for row, length in zip(parents, lengths.tolist(), strict=True)]
