"""Load the compiled code if it is available and enabled, and pass tensors to it.

The compiled code asks the CPU itself whether it has AVX-512 or AVX2 (`bough_isa` in kernel.c).
"""

import ctypes
import logging
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FUNCTIONS = (
    "plan", "forward", "backward", "infer", "infer_cached", "isa", "few", "source", "node_loss", "pair_loss",
    "lstm", "brackets",
)  # fmt: skip
VECTORS = {512: "AVX-512", 256: "AVX2", 128: "vectors of 4 floats"}
TORCH = {"darwin": "libtorch_cpu.dylib", "win32": "torch_cpu.dll"}.get(sys.platform, "libtorch_cpu.so")
# the function of each BLAS that limits the threads of the calling thread; Accelerate has none
THREADS = {"MKL": "MKL_Set_Num_Threads_Local", "OpenBLAS": "openblas_set_num_threads_local"}
FOLDER = Path(__file__).parent
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Library:
    """The compiled functions, and the BLAS that they call.

    `isa` is the width of a vector in bits. `blas` is the name of the BLAS whose `gemm` multiplies
    more than `few` rows; without a BLAS `gemm` is 0, and the compiled code multiplies itself.
    """

    functions: ctypes.CDLL
    isa: int
    few: int
    blas: str = ""
    gemm: int = 0
    set_threads: int = 0


def structure(names: str, **more: type) -> type[ctypes.Structure]:
    """Return a struct of kernel.c: 64-bit numbers and addresses, 0 unless set, followed by the fields in `more`."""
    fields = [*((name, ctypes.c_int64) for name in names.split()), *more.items()]
    return type("Structure", (ctypes.Structure,), {"_fields_": fields})


class Unavailable(Exception):
    """Raised if there is no compiled code; the message has the reason."""


def path() -> Literal["equations", "c"]:
    """Return what computes layers that have a kernel: "equations" or "c".

    The environment variable BOUGH_FAST can be "0" for the equations or "1" for C. By default C is used if it loads.

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
    """Return one line about what computes the layers, with the reason.

    Examples:
        >>> from bough.nn import kernels
        >>> kernels.why().startswith(kernels.path())
        True
    """
    asked, found = os.environ.get("BOUGH_FAST", ""), loaded()
    chosen = f" (BOUGH_FAST={asked})" if asked else ""
    if path() == "c":
        blas = f"sgemm_ of torch's {library().blas}" if library().blas else "its own code"
        return f"c: {VECTORS[library().isa]}, matmuls by {blas}{chosen}"
    return f"equations: {found}" if isinstance(found, Unavailable) and not asked else f"equations{chosen}"


def takes(*tensors: Tensor | None) -> bool:
    """Return whether the compiled code is enabled and can take these tensors: float32 on the CPU."""
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
    """Return the address of a tensor's data, 0 for None.

    Raise a ValueError unless the tensor has this shape and type, is on the CPU and contiguous,
    since C does not check bounds. With `by_row`, only each row has to be contiguous.
    """
    if tensor is None:
        return 0
    dense = tensor.is_contiguous() or (by_row and tensor.stride(-1) == 1)
    if tensor.shape != shape or tensor.dtype != dtype or tensor.device.type != "cpu" or not dense:
        found = f"{tuple(tensor.shape)} {tensor.dtype} on {tensor.device}, strides {tensor.stride()}"
        raise ValueError(f"{name} is {found}; the compiled code takes {shape} {dtype}, contiguous, on cpu")
    return tensor.data_ptr()


def array_address(array: NDArray[np.int64]) -> int:
    """Return the address of the data of an int64 array. Raise a ValueError unless it is contiguous."""
    if array.dtype != np.int64 or not array.flags.c_contiguous:
        raise ValueError(f"an array of {array.dtype}; the compiled code takes int64, contiguous")
    return array.ctypes.data


def library() -> Library:
    """Return the library. Raise a RuntimeError with the reason if there is none."""
    found = loaded()
    if isinstance(found, Unavailable):
        raise RuntimeError(f"BOUGH_FAST=1, but there is no compiled code: {found}; unset it, or set 0")
    return found


@cache
def loaded() -> Library | Unavailable:
    """Load the library once per process. If that is not possible, log and return the reason."""
    try:
        return load(FOLDER)
    except Unavailable as reason:
        _log.info("no compiled code, layers run by their equations: %s", reason)
        return reason


def load(folder: Path) -> Library:
    """Return the library of a folder. Raise `Unavailable` if it is missing or does not fit the sources."""
    file = folder / "_kernel.so"
    if not file.exists():
        raise Unavailable("it was not compiled when bough was installed (no C compiler)")
    try:
        functions = ctypes.CDLL(str(file))
        for name in FUNCTIONS:
            getattr(functions, f"bough_{name}").restype = ctypes.c_int64
        isa, few, mark = (int(getattr(functions, f"bough_{name}")()) for name in ("isa", "few", "source"))
    except (OSError, AttributeError) as error:
        raise Unavailable(f"{file.name} does not load: {error}") from error
    sources = sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")])
    if mark != zlib.crc32(b"".join(source.read_bytes() for source in sources)):
        raise Unavailable(f"{file.name} was compiled from other sources; install bough again")
    return Library(functions, isa, few, *blas())


def blas() -> tuple[str, int, int]:
    """Return the name of torch's BLAS, and the addresses of its `sgemm_` and of its limit of threads, or 0.

    Torch does not document these symbols, so `sgemm_` is tested with a small product first.
    """
    try:
        torch_cpu = _torch_cpu()
        gemm = torch_cpu.sgemm_
    except (OSError, AttributeError):
        return "", 0, 0
    if not multiplies(gemm):
        _log.warning("sgemm_ within torch gives a wrong product; the compiled code multiplies by itself")
        return "", 0, 0
    at_gemm = ctypes.cast(gemm, ctypes.c_void_p).value or 0
    for name, symbol in THREADS.items():
        if hasattr(torch_cpu, symbol):
            return name, at_gemm, ctypes.cast(getattr(torch_cpu, symbol), ctypes.c_void_p).value or 0
    return "BLAS", at_gemm, 0


def _torch_cpu() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / TORCH))


def multiplies(gemm: Callable[..., Any]) -> bool:
    """Return whether a function multiplies two small matrices correctly, called as the kernel calls it."""
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
    c = np.full((2, 4), np.nan, dtype=np.float32)
    m, k, n = (ctypes.byref(ctypes.c_int64(size)) for size in (2, 3, 4))
    one, zero = (ctypes.byref(ctypes.c_float(number)) for number in (1, 0))
    at_a, at_b, at_c = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, c))
    gemm(b"N", b"N", n, m, k, one, at_b, n, at_a, k, zero, at_c, n)
    return np.allclose(c, a @ b)
