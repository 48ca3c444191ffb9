"""Binary bracketings by one compiled call: float32 on the CPU."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bough.nn.kernels.address import address
from bough.nn.kernels.compiled import takes
from bough.nn.kernels.loader import library

Ints = NDArray[np.int64]


def brackets(scores: Tensor, lengths: Ints) -> list[Ints] | None:
    """Per sentence the parents, in preorder, of the tree with the most brackets right on average; None without C.

    Shape: scores (B, N + 1, N + 1) by start and width, lengths (B,), each from 1 to N.
    """
    size = scores.shape[1]
    in_range = len(lengths) and 0 < lengths.min() <= lengths.max() < size
    if not takes(scores) or scores.stride(2) != 1 or not in_range:
        return None
    room = 2 * size
    parents = np.empty((len(lengths), room), dtype=np.int64)
    lengths = np.ascontiguousarray(lengths, dtype=np.int64)
    place = address("scores", scores, (len(lengths), size, size), by_row=True)
    numbers = (library().isa, len(lengths), lengths.ctypes.data, place, *scores.stride()[:2])
    if library().functions.bough_brackets(*map(ctypes.c_int64, (*numbers, parents.ctypes.data, room))):
        raise MemoryError(f"no memory for a chart of {lengths.max()} words")
    return [row[: 2 * length - 1] for row, length in zip(parents, lengths.tolist(), strict=True)]
