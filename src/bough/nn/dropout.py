"""Dropout masks, drawn 16 bits an entry: several times faster on a CPU than a float or a Bernoulli draw."""

from __future__ import annotations

import torch
from torch import Tensor


def kept(like: Tensor, rows: int, columns: int, p: float) -> Tensor:
    """(rows, columns) of 0 with probability `p` (to 1 / 65536), else 1 / (1 - p), by torch's generator."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout {p}: at least 0, below 1")
    count = rows * columns
    words = torch.empty((count + 3) // 4, dtype=torch.int64, device=like.device).random_(-(2**63), None)
    lanes = words.view(torch.int16)[:count].view(rows, columns)
    return (lanes >= round(p * 65536) - 32768).to(like.dtype).div_(1 - p)
