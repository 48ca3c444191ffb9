"""The loss of classified nodes with its derivative by hand: gather, dropout, softmax and likelihood in one function."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bough.nn.engine import differentiated_once, without_autocast
from bough.nn.kernels import losses
from bough.nn.kernels.loader import path


def node_loss(
    h: Tensor, W: Tensor, b: Tensor, rows: Tensor, labels: Tensor, keep: Tensor | None, scale: float
) -> Tensor:
    """The sum over nodes of -log softmax(scale * W (h[rows] ⊙ keep) + b)[label], in C where it takes these.

    Shape: h (U, D), W (K, D), b (K), rows and labels (N,), keep (N, D) of 0 and 1, or None.
    """
    loss = losses.node_loss(h, W, b, rows, labels, keep, scale) if path() == "c" else None
    if loss is None:
        loss = _NodeLoss.apply(h, W, b, rows, labels, keep, scale)  # type: ignore[no-untyped-call]
    return loss


class _NodeLoss(torch.autograd.Function):
    """Classes stand in rows, which is the quick way round."""

    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        W: Tensor,
        b: Tensor,
        rows: Tensor,
        labels: Tensor,
        keep: Tensor | None,
        scale: float,
    ) -> Tensor:
        with without_autocast(h.device):
            picked = h.index_select(0, rows)  # (N, D)
            if keep is not None:
                picked.mul_(keep)
            scaled = W * scale  # what is kept counts for what is not
            log_p = torch.addmm(b.unsqueeze(1), scaled, picked.t()).log_softmax(dim=0)  # (K, N)
        ctx.save_for_backward(picked, scaled, log_p, rows, labels, keep)
        ctx.states, ctx.scale = h.shape[0], scale
        return -log_p.gather(0, labels.unsqueeze(0)).sum()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        with without_autocast(grad.device), torch.no_grad():
            found = _NodeLoss._gradients(ctx, grad)
        return (*differentiated_once(found), None, None, None, None)

    @staticmethod
    def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of h, W and b."""
        picked, scaled, log_p, rows, labels, keep = ctx.saved_tensors
        dz = log_p.exp()
        dz.scatter_add_(0, labels.unsqueeze(0), dz.new_full((1, len(labels)), -1.0))
        dz.mul_(grad)
        dh = torch.mm(dz.t(), scaled)  # (N, D)
        if keep is not None:
            dh.mul_(keep)
        spread = dh.new_zeros(ctx.states, dh.shape[1]).index_add_(0, rows, dh)
        return spread, torch.mm(dz, picked).mul_(ctx.scale), dz.sum(1)
