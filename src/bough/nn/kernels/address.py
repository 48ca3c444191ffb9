"""The addresses that C gets: no tensor reaches it without the checks here, since C reads as far as it is told."""

from __future__ import annotations

import torch
from torch import Tensor


def address(
    name: str,
    tensor: Tensor | None,
    shape: tuple[int, ...],
    dtype: torch.dtype = torch.float32,
    *,
    by_row: bool = False,
) -> int:
    """Return the address of a tensor's numbers, 0 for None.

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
