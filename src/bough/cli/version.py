"""`bough --version`: which bough this is, and what runs its layers, told without loading torch."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import bough
from bough.version import __version__

KERNEL = Path(bough.__file__).parent / "nn" / "kernels" / "_kernel.so"
VECTORS = {512: "AVX-512", 256: "AVX2"}


def version() -> str:
    """One line."""
    return f"{__version__} (layers by {sweeps()})"


def sweeps() -> str:
    """What `bough.nn.kernels.why` tells in full: C, torch, or the layers' own equations."""
    asked = os.environ.get("BOUGH_FAST", "")
    if asked in ("0", "torch"):
        return f"{'torch' if asked == 'torch' else 'their equations'}, BOUGH_FAST={asked}"
    try:
        width = int(ctypes.CDLL(str(KERNEL)).bough_isa())
    except (OSError, AttributeError):
        return "torch, nothing compiled"
    return f"C, {VECTORS[width]}" if width in VECTORS else "torch, the CPU has no AVX2"
