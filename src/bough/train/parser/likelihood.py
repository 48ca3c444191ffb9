"""The likelihood of a given bracketing: a conditional random field over all binary trees."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bough.text.builtin.cky import inside, outside


def log_partition(scores: Tensor, lengths: Tensor) -> Tensor:
    """Return (B,) log of the sum over all binary trees of exp(score); its gradient is the probability of each span."""
    total: Tensor = _LogPartition.apply(scores, lengths)  # type: ignore[no-untyped-call]
    return total


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        total, ctx.shares = inside(scores, lengths)
        ctx.lengths, ctx.shape = lengths, scores.shape
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return outside(grads[0], ctx.lengths, ctx.shares, ctx.shape), None


def tree_scores(scores: Tensor, batch: Tensor, start: Tensor, width: Tensor) -> Tensor:
    """Return (B,) the score of each sentence's given tree; the spans of all trees come as three flat columns."""
    picked = scores[batch, start, width]
    return scores.new_zeros(len(scores)).index_add(0, batch, picked)
