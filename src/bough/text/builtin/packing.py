"""The parser's tensors as its folder holds them: `NAME`, or `NAME.codes` and `NAME.scales` for a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bough.files import Int8Rows, quantised


def packed(tensors: Mapping[str, Tensor], *, rounded: bool = True) -> dict[str, Tensor]:
    """Tensors of two dimensions and more in int8, the others as they are.

    Not `rounded`, the codes are the numbers themselves and the scales ones: to measure what rounding costs.
    """
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim < 2:
            found[name] = tensor.detach().clone().contiguous()
            continue
        rows = quantised(tensor) if rounded else Int8Rows(tensor.detach(), torch.ones(tensor.shape[:-1]))
        found |= {f"{name}.codes": rows.codes.contiguous(), f"{name}.scales": rows.scales.contiguous()}
    return found


def outlines(shapes: Mapping[str, Sequence[int]]) -> dict[str, Tensor]:
    """What `packed` makes of tensors of these shapes, with nothing in it: to hold a folder's against."""
    found: dict[str, Tensor] = {}
    for name, shape in shapes.items():
        if len(shape) < 2:
            found[name] = torch.empty(1).expand(*shape)
            continue
        found[f"{name}.codes"] = torch.empty(1, dtype=torch.int8).expand(*shape)
        found[f"{name}.scales"] = torch.empty(1).expand(*shape[:-1])
    return found


def unpacked(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Int8Rows], dict[str, Tensor]]:
    """The tensors by their own names again: the matrices in int8, and the others."""
    matrices = {
        name.removesuffix(".codes"): Int8Rows(codes, tensors[name.removesuffix("codes") + "scales"])
        for name, codes in tensors.items()
        if name.endswith(".codes")
    }
    rest = {name: tensor for name, tensor in tensors.items() if not name.endswith((".codes", ".scales"))}
    return matrices, rest
