"""Load the compiled code where it is there and wanted, and hand tensors to it."""

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
from torch import Tensor

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
    """Why there is no compiled code here."""


def path() -> Literal["equations", "c"]:
    """Return what computes a layer that has a kernel: "equations" or "c".

    The environment variable BOUGH_FAST chooses: "0" for the layers' equations, "1" for C; unset, C where it loads.

    Examples:
        >>> from bough.nn import kernels
        >>> kernels.path() in ("equations", "c")
        True
    """
    asked = os.environ.get("BOUGH_FAST", "")
    if asked == "1":
        library()
    elif asked not in ("", "0"):
        raise ValueError(f"BOUGH_FAST={asked}: 0 (the equations) or 1 (C)")
    return "equations" if asked == "0" or isinstance(loaded(), Unavailable) else "c"


def why() -> str:
    """Return one line that says what computes the layers, and why.

    Examples:
        >>> from bough.nn import kernels
        >>> kernels.why().startswith(kernels.path())
        True
    """
    asked, found = os.environ.get("BOUGH_FAST", ""), loaded()
    chosen = f" (BOUGH_FAST={asked})" if asked else ""
    if path() == "c":
        return f"c: {'AVX-512' if library().isa == 512 else 'AVX2'}, matmuls by sgemm_ of torch's MKL{chosen}"
    return f"equations: {found}" if isinstance(found, Unavailable) and not asked else f"equations{chosen}"


def takes(*tensors: Tensor | None) -> bool:
    """Return whether the compiled code is on and takes these tensors: float32 on the CPU."""
    return path() == "c" and all(
        t is None or (t.dtype == torch.float32 and t.device.type == "cpu" and t.layout == torch.strided)
        for t in tensors
    )


def address(
    name: str,
    tensor: Tensor | None,
    shape: tuple[int, ...],
    dtype: torch.dtype = torch.float32,
    *,
    by_row: bool = False,
) -> int:
    """Return the address of a tensor's numbers, 0 for None; C reads as far as it is told, so check first.

    Raise a ValueError unless the tensor has this shape and type, is on the CPU and contiguous. With `by_row`, only
    the numbers of one row have to be next to each other.
    """
    if tensor is None:
        return 0
    dense = tensor.is_contiguous() or (by_row and tensor.stride(-1) == 1)
    if tensor.shape != shape or tensor.dtype != dtype or tensor.device.type != "cpu" or not dense:
        found = f"{tuple(tensor.shape)} {tensor.dtype} on {tensor.device}, strides {tensor.stride()}"
        raise ValueError(f"{name} is {found}; the compiled code takes {shape} {dtype}, contiguous, on cpu")
    return tensor.data_ptr()


def library() -> Library:
    """Return the loaded library, or raise an error with the reason."""
    found = loaded()
    if isinstance(found, Unavailable):
        raise RuntimeError(f"BOUGH_FAST=1, but there is no compiled code: {found}; unset it, or set 0")
    return found


@cache
def loaded() -> Library | Unavailable:
    """Look for the library once in a process, and log what is missing."""
    try:
        return load(FOLDER)
    except Unavailable as reason:
        _log.info("no compiled code, layers run by their equations: %s", reason)
        return reason


def load(folder: Path) -> Library:
    """Return the library of a folder, or raise `Unavailable` if any part is missing or wrong."""
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
    try:
        torch_cpu = _torch_cpu()
        gemm, set_threads = torch_cpu.sgemm_, torch_cpu.MKL_Set_Num_Threads_Local
    except (OSError, AttributeError) as error:
        raise Unavailable(f"this torch has no MKL to call: {error}") from error
    _check(gemm)
    blas, threads = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (gemm, set_threads))
    return Library(functions, blas, threads, isa, int(functions.bough_few()))


def _torch_cpu() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))


def _check(gemm: ctypes._NamedFuncPointer) -> None:
    """Compare a small product, called as the kernel calls it: torch promises neither the symbol nor its arguments."""
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
    c = np.full((2, 4), np.nan, dtype=np.float32)
    m, k, n = (ctypes.byref(ctypes.c_int64(size)) for size in (2, 3, 4))
    one, zero = (ctypes.byref(ctypes.c_float(number)) for number in (1, 0))
    at_a, at_b, at_c = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, c))
    gemm(b"N", b"N", n, m, k, one, at_b, n, at_a, k, zero, at_c, n)
    if not np.allclose(c, a @ b):
        raise Unavailable("sgemm_ within torch gives a wrong product")
