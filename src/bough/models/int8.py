"""Matrices in int8 with a scale per row: how the models that come along are stored."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Int8Rows:
    """Row i is `codes[i] * scales[i]`. Shape: codes (..., d) int8, scales (...) float32."""

    codes: Tensor
    scales: Tensor

    def __getitem__(self, rows: Tensor) -> Tensor:
        """The rows of those numbers: (...) -> (..., d), for a matrix of two dimensions."""
        return torch.embedding(self.codes, rows).float() * self.scales[rows].unsqueeze(-1)

    def full(self) -> Tensor:
        """The whole matrix in float32."""
        return self.codes.float() * self.scales.unsqueeze(-1)


def quantised(matrix: Tensor) -> Int8Rows:
    """Each row (last dimension) with a scale of its own, so that its largest entry is 127."""
    scales = matrix.abs().amax(dim=-1).clamp_min(1e-12) / 127
    return Int8Rows((matrix / scales.unsqueeze(-1)).round().to(torch.int8), scales)
