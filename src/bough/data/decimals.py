"""Plain decimals (`-0.26554`) by the million: several times as fast as one at a time, and the same numbers."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

DIGITS = (
    10  # of the longest number read here; all such integers, and these powers of ten, are exact in a double
)
_POWERS = 10.0 ** np.arange(DIGITS + 1)
_SPACE, _MINUS, _DOT, _ZERO = b" -.0"


def plain_decimals(text: bytes) -> NDArray[np.float64] | None:
    """The numbers in `text`, one space between two; None if one of them is anything but `-?digits.digits`.

    An integer by a power of ten, both exact, is rounded once, so it is what `float` gives.
    """
    buffer = np.frombuffer(text + b" ", dtype=np.uint8)
    ends, dots = np.flatnonzero(buffer == _SPACE), np.flatnonzero(buffer == _DOT)
    starts = np.concatenate([[0], ends[:-1] + 1])
    if len(dots) != len(ends) or (dots < starts).any() or (dots > ends).any():
        return None
    negative = buffer[starts] == _MINUS
    lengths = ends - starts - negative - 1  # without sign and point
    if lengths.min() < 1 or lengths.max() > DIGITS:
        return None
    digits = np.frombuffer(b"0" * DIGITS + text.replace(b".", b""), dtype=np.uint8) - np.uint8(_ZERO)
    fields = sliding_window_view(digits, DIGITS)[
        ends - np.arange(1, len(ends) + 1)
    ]  # (n, DIGITS), right-aligned
    fields *= np.arange(DIGITS, 0, -1) <= lengths[:, None]  # what stands before the number
    if fields.max() > 9:
        return None
    values: NDArray[np.float64] = fields @ _POWERS[DIGITS - 1 :: -1] / _POWERS[ends - dots - 1]
    return np.negative(values, out=values, where=negative)
