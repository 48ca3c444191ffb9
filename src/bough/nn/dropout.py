"""Dropout masks from few random bits, several times faster on a CPU than a random float per entry."""

import torch
from torch import Tensor


def mask(like: Tensor, rows: int, columns: int, p: float) -> Tensor:
    """Return (rows, columns) of 0 with probability `p` (rounded to 1 / 65536) and 1 otherwise, drawn by torch."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout {p}: at least 0, below 1")
    count = rows * columns
    if p == 0.5:  # a bit per entry
        octets = _random(-(-count // 64), like.device).view(torch.uint8).unsqueeze(1)
        bits = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8, device=like.device)
        drawn = (octets & bits).ne(0).view(-1)[:count]
    else:  # sixteen bits per entry
        words = _random(-(-count // 4), like.device).view(torch.int16)[:count]
        drawn = words >= min(round(p * 65536), 65535) - 32768
    return drawn.view(rows, columns).to(like.dtype)


def dropout_mask(like: Tensor, rows: int, columns: int, p: float) -> Tensor:
    """Return a mask (rows, columns) of 0 and 1 / (1 - p), which keeps the expectation."""
    return mask(like, rows, columns, p).div_(1 - p)


def _random(words: int, device: torch.device) -> Tensor:
    return torch.empty(words, dtype=torch.int64, device=device).random_(-(2**63), None)
