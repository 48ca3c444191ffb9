"""The best projective dependency tree with one root (Eisner's algorithm), for a whole batch at once.

Charts are by first word and width - 1: entry [i, w] is about the words i..i + w. A second copy, by last word
and N - w, turns the sum over split points into two slices, as in `chart`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def best_heads(scores: Floats, lengths: NDArray[np.int64]) -> list[list[int]]:
    """(B, N, N + 1) score of each word's heads, column 0 the root -> heads counted from 1, 0 for the root."""
    charts = _Charts(scores)
    found = []
    for sentence, length in enumerate(lengths.tolist()):
        # the root covers 0..r with its left half and r..length - 1 with its right half
        left = charts.left[sentence, 0, :length]
        ends = np.arange(length)
        right = charts.right[sentence, ends, length - 1 - ends]
        root = int(np.argmax(left + right + scores[sentence, :length, 0]))
        found.append(charts.trace(sentence, root, length))
    return found


class _Charts:
    def __init__(self, scores: Floats) -> None:
        batch, size, _ = scores.shape
        arcs = scores[:, :, 1:]  # [dependent, head]
        shape = (batch, size, size)
        self.right, self.left = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        arc_right = np.zeros(shape, np.float32)
        right_end, left_end, arc_left_end = (np.zeros((batch, size, size + 1), np.float32) for _ in range(3))
        self.split_arc, self.split_right, self.split_left = (np.zeros(shape, np.int16) for _ in range(3))
        for width in range(1, size):
            count = size - width
            starts, ends = np.arange(count), np.arange(width, size)
            halves = self.right[:, :count, :width] + left_end[:, width:, size - width + 1 :]
            best, self.split_arc[:, :count, width] = _best(halves)
            arc_right[:, :count, width] = best + arcs[:, ends, starts]
            arc_left_end[:, width:, size - width] = best + arcs[:, starts, ends]
            joined = arc_right[:, :count, 1 : width + 1] + right_end[:, width:, size - width + 1 :]
            best, self.split_right[:, :count, width] = _best(joined)
            self.right[:, :count, width] = right_end[:, width:, size - width] = best
            joined = self.left[:, :count, :width] + arc_left_end[:, width:, size - width : size]
            best, self.split_left[:, :count, width] = _best(joined)
            self.left[:, :count, width] = left_end[:, width:, size - width] = best

    def trace(self, sentence: int, root: int, length: int) -> list[int]:
        split_arc, split_right, split_left = (
            split[sentence].tolist() for split in (self.split_arc, self.split_right, self.split_left)
        )
        heads = [0] * length
        stack = [(True, root, length - 1), (False, 0, root)]  # (head on the left, first word, last word)
        while stack:
            rightwards, first, last = stack.pop()
            if first == last:
                continue
            if rightwards:
                child = first + 1 + split_right[first][last - first]
                heads[child] = first + 1
                stack.append((True, child, last))
                low, high = first, child
            else:
                child = first + split_left[first][last - first]
                heads[child] = last + 1
                stack.append((False, first, child))
                low, high = child, last
            middle = low + split_arc[low][high - low]
            stack.append((True, low, middle))
            stack.append((False, middle + 1, high))
        return heads


def _best(table: Floats) -> tuple[Floats, NDArray[np.int64]]:
    choice = table.argmax(axis=2)
    return np.take_along_axis(table, choice[:, :, None], axis=2)[:, :, 0], choice
