"""JSON written straight from columns of numbers and texts; the same bytes that `json.dumps` would give."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from json.encoder import encode_basestring
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.formats.escapes import printable

DIGITS = 4  # of a probability
STEPS = 10**DIGITS
encoded = json.JSONEncoder(ensure_ascii=False).encode  # any plain value


def rounded(probabilities: Sequence[float]) -> list[float]:
    """To `DIGITS` places."""
    return [round(p, DIGITS) for p in probabilities]


def numbers(values: NDArray[np.float64]) -> Any:
    """The values, rounded to `DIGITS` places, as JSON writes them: lists of texts, shaped as `values`."""
    steps = np.rint(values * STEPS)
    if not (np.abs(steps) <= STEPS).all():  # not a probability or a score: a broken model's NaN
        flat = np.array(list(map(encoded, values.round(DIGITS).ravel().tolist())), dtype=object)
        return flat.reshape(values.shape).tolist()
    places = np.abs(steps).astype(np.int64) + (STEPS + 1) * np.signbit(steps)
    return _every_number()[places].tolist()


@cache
def _every_number() -> NDArray[np.object_]:
    """0 to 1 in steps of the last digit, then -0 to -1: to look a text up is ten times as fast as to make it."""
    ups = [step / STEPS for step in range(STEPS + 1)]
    return np.array([*map(repr, ups), *(repr(-up) for up in ups)], dtype=object)


def quoted(texts: Sequence[str]) -> list[str]:
    """Each text as JSON writes it; see `printable`."""
    return [encode_basestring(printable(text)) for text in texts]
