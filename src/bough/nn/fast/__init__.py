"""Derivatives written by hand, beside the equations they belong to, and which of them are used."""

from __future__ import annotations

import os
from typing import Literal

Path = Literal["equations", "torch"]
_PATHS: dict[str, Path] = {"0": "equations", "torch": "torch"}


def path() -> Path:
    """What runs a layer that has a fast path: BOUGH_FAST = 0 (the equations) or torch, which is the default."""
    chosen = os.environ.get("BOUGH_FAST", "torch")
    if chosen not in _PATHS:
        raise ValueError(f"BOUGH_FAST={chosen!r}: one of {', '.join(_PATHS)}")
    return _PATHS[chosen]
