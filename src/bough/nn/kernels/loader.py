"""The compiled sweep: whether it can be loaded here, and whether it is wanted."""

from __future__ import annotations

import ctypes
import logging
import os
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import torch

Way = Literal["equations", "torch", "c"]
CHOICES: dict[str, Way] = {"0": "equations", "torch": "torch", "c": "c"}
FUNCTIONS = ("plan", "up", "down", "isa", "few", "source", "node_loss", "pair_loss", "lstm", "brackets")
FOLDER = Path(__file__).parent
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Library:
    """The compiled functions, the BLAS they are given, the vector width in bits, and the rows that need no BLAS."""

    functions: ctypes.CDLL
    gemm: int
    set_threads: int
    isa: int
    few: int


class Unavailable(Exception):
    """Why there is no compiled sweep here."""


def path() -> Way:
    """Which derivative is used: "equations", "torch" or "c".

    The environment variable BOUGH_FAST chooses: "0" for the layers' equations, "torch" or "c"; unset, "c" where it
    loads.

    Examples:
        >>> from bough.nn import kernels as fast
        >>> fast.path() in ("equations", "torch", "c")
        True
    """
    asked = os.environ.get("BOUGH_FAST", "")
    if not asked:
        return "c" if isinstance(loaded(), Library) else "torch"
    if asked not in CHOICES:
        raise ValueError(f"BOUGH_FAST={asked}: 0 (the equations), torch or c")
    if asked == "c":
        library()
    return CHOICES[asked]


def why() -> str:
    """One line on which derivative is used, and why.

    Examples:
        >>> from bough.nn import kernels as fast
        >>> fast.why().startswith(fast.path())
        True
    """
    way, asked = path(), os.environ.get("BOUGH_FAST", "")
    chosen = f" (BOUGH_FAST={asked})" if asked else ""
    if way == "c":
        return f"c: {'AVX-512' if library().isa == 512 else 'AVX2'}, matmuls by sgemm_ of torch's MKL{chosen}"
    found = loaded()
    return f"{way}{chosen}" if chosen or isinstance(found, Library) else f"{way}: {found}"


def library() -> Library:
    """The loaded library; an error with the reason where there is none."""
    found = loaded()
    if isinstance(found, Unavailable):
        raise RuntimeError(f"BOUGH_FAST=c, but there is no compiled sweep: {found}; unset it, or set torch")
    return found


@cache
def loaded() -> Library | Unavailable:
    """Looked for once in a process; what is missing is logged once."""
    try:
        return load(FOLDER)
    except Unavailable as reason:
        _log.info("no compiled sweep, torch does it: %s", reason)
        return reason


def load(folder: Path) -> Library:
    """The library of a folder, checked; `Unavailable` if any part is not there."""
    files = sorted(folder.glob("_kernel.so"))
    if not files:
        raise Unavailable("it was not compiled when bough was installed (no C compiler, or not x86-64 Linux)")
    try:
        functions = ctypes.CDLL(str(files[0]))
        for name in FUNCTIONS:
            getattr(functions, f"bough_{name}").restype = ctypes.c_int64
        isa, mark = int(functions.bough_isa()), int(functions.bough_source())
    except (OSError, AttributeError) as error:
        raise Unavailable(f"{files[0].name} does not load: {error}") from error
    sources = sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")])
    if mark != zlib.crc32(b"".join(file.read_bytes() for file in sources)):
        raise Unavailable(f"{files[0].name} was compiled from other sources; install bough again")
    if not isa:
        raise Unavailable("the CPU has neither AVX-512 nor AVX2 with FMA")
    gemm, set_threads = _blas()
    return Library(functions, gemm, set_threads, isa, int(functions.bough_few()))


def _blas() -> tuple[int, int]:
    """Addresses of the matmul within torch, and of what sets its threads for the calling thread alone."""
    try:
        torch_cpu = _torch_cpu()
        gemm, set_threads = torch_cpu.sgemm_, torch_cpu.MKL_Set_Num_Threads_Local
    except (OSError, AttributeError) as error:
        raise Unavailable(f"this torch has no MKL to call: {error}") from error
    _check(gemm)
    return tuple(ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (gemm, set_threads))  # type: ignore[return-value]


def _torch_cpu() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))


def _check(gemm: ctypes._NamedFuncPointer) -> None:
    """A small product, asked for as the kernel does: neither symbol nor its arguments are a promise of torch's."""
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
    c = np.full((2, 4), np.nan, dtype=np.float32)
    m, k, n = (ctypes.byref(ctypes.c_int64(size)) for size in (2, 3, 4))
    one, zero = (ctypes.byref(ctypes.c_float(number)) for number in (1, 0))
    at_a, at_b, at_c = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, c))
    gemm(b"N", b"N", n, m, k, one, at_b, n, at_a, k, zero, at_c, n)
    if not np.allclose(c, a @ b):
        raise Unavailable("sgemm_ within torch gives a wrong product")
