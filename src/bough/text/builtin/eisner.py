"""Find the best projective dependency tree with one root by Eisner's algorithm, batched.

Charts are indexed by first word and width - 1: entry [i, w] is about the words i..i + w. A second
copy, by last word and N - w, turns the sum over split points into two slices, as in `cky`.
"""

import numpy as np

from bough.text.builtin.cky import Floats, Ints


def best_heads(scores: Floats, lengths: Ints) -> list[list[int]]:
    """Return the head of each word, counted from 1, 0 for the root.

    Shape: scores (B, N, N + 1) of word and head; column 0 is the root.
    """
    charts = _Charts(scores)
    sentences, words = np.arange(len(scores))[:, None], np.arange(scores.shape[1])
    # the root covers 0..r with its left half and r..length - 1 with its right half
    after = lengths[:, None] - 1 - words
    whole = charts.left[:, 0] + charts.right[sentences, words, np.maximum(after, 0)] + scores[:, :, 0]
    roots = np.where(after >= 0, whole, -np.inf).argmax(axis=1)
    heads = charts.traced(roots, lengths)
    return [row[:length] for row, length in zip(heads.tolist(), lengths.tolist(), strict=True)]


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

    def traced(self, roots: Ints, lengths: Ints) -> Ints:
        """Return (B, N) heads counted from 1, traced back one level of all trees at a time."""
        heads = np.zeros(self.left.shape[:2], dtype=np.int64)
        each, none = np.arange(len(roots)), np.zeros_like(roots)
        # halves to be done: sentence, first and last word, and whether the head is the first of them
        sentence, rightwards = np.tile(each, 2), np.repeat([True, False], len(roots))
        first, last = np.concatenate([roots, none]), np.concatenate([lengths - 1, roots])
        while len(sentence):
            wide = first < last
            sentence, first, last, rightwards = (a[wide] for a in (sentence, first, last, rightwards))
            at = sentence, first, last - first
            child = first + np.where(rightwards, self.split_right[at] + 1, self.split_left[at])
            head = np.where(rightwards, first, last)
            heads[sentence, child] = head + 1
            low, high = np.minimum(head, child), np.maximum(head, child)
            middle = low + self.split_arc[sentence, low, high - low]
            # the child's far half, then the two halves between child and head
            sentence = np.tile(sentence, 3)
            first = np.concatenate([np.where(rightwards, child, first), low, middle + 1])
            last = np.concatenate([np.where(rightwards, last, child), middle, high])
            rightwards = np.concatenate([rightwards, np.ones_like(rightwards), np.zeros_like(rightwards)])
        return heads


def _best(table: Floats) -> tuple[Floats, Ints]:
    choice = table.argmax(axis=2)
    return np.take_along_axis(table, choice[:, :, None], axis=2)[:, :, 0], choice
