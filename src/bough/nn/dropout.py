"""Dropout masks from few random bits: several times faster on a CPU than a float or a Bernoulli draw an entry."""

from __future__ import annotations

import torch
from torch import Tensor


def mask(like: Tensor, rows: int, columns: int, p: float) -> Tensor:
    """(rows, columns) of 0 with probability `p` (to 1 / 65536), else 1, by torch's generator."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout {p}: at least 0, below 1")
    count = rows * columns
    if p == 0.5:  # a bit an entry
        octets = _random(-(-count // 64), like.device).view(torch.uint8).unsqueeze(1)
        bits = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8, device=like.device)
        drawn = (octets & bits).ne(0).view(-1)
    else:  # sixteen
        drawn = _random(-(-count // 4), like.device).view(torch.int16) >= min(round(p * 65536), 65535) - 32768
    return drawn[:count].view(rows, columns).to(like.dtype)


def kept(like: Tensor, rows: int, columns: int, p: float) -> Tensor:
    """The same, with 1 / (1 - p) for the entries that stay, so that the expectation does too."""
    return mask(like, rows, columns, p).div_(1 - p)


def _random(words: int, device: torch.device) -> Tensor:
    return torch.empty(words, dtype=torch.int64, device=device).random_(-(2**63), None)
