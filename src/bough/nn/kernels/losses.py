"""Losses and their gradients, each by one compiled call, in float32 on the CPU."""

import ctypes
from typing import Any

import torch
from torch import Tensor

from bough.nn.engine import differentiated_once
from bough.nn.kernels.loader import address, library, structure, takes

NodeLoss = structure("nodes states d classes isa rows labels h W b mask dh dW db", scale=ctypes.c_double)
PairLoss = structure(
    "pairs d hidden classes isa product difference squared left right y W_h b_h W_p b_p "
    "dleft dright dW_h db_h dW_p db_p gemm set_threads"
)


def node_loss(
    h: Tensor, W: Tensor, b: Tensor, rows: Tensor, labels: Tensor, mask: Tensor | None, scale: float
) -> Tensor | None:
    """Return the sum over nodes of -log softmax(scale * W (h[rows] ⊙ mask) + b)[label], or None if C is not used.

    Shape: h (U, D), W (K, D), b (K), rows and labels (N,) in range, mask (N, D) or None.
    """
    if not takes(h, W, b, mask):
        return None
    (states, d), nodes, classes = h.shape, len(rows), len(W)
    rows, labels, mask = rows.contiguous(), labels.contiguous(), None if mask is None else mask.contiguous()
    numbers = NodeLoss(nodes, states, d, classes, library().isa, scale=scale)
    numbers.rows = address("rows", rows, (nodes,), torch.int64)
    numbers.labels = address("labels", labels, (nodes,), torch.int64)
    numbers.mask = address("mask", mask, (nodes, d))
    shapes = {"h": (states, d), "W": (classes, d), "b": (classes,)}
    loss: Tensor | int = _Loss.apply("bough_node_loss", numbers, shapes, h, W, b)  # type: ignore[no-untyped-call]
    if isinstance(loss, int):
        raise IndexError(f"rows or labels out of range: there are {states} states and {classes} classes")
    return loss


def pair_loss(
    left: Tensor, right: Tensor, y: Tensor, *weights: Tensor, features: str = "both", objective: str = "kl"
) -> Tensor | None:
    """Return the loss of `Similarity` with these features and objective, or None if C cannot compute it.

    Shape: left, right (B, D), y (B,) in [1, K], weights W_h (H, D or 2D), b_h (H), W_p (K, H), b_p (K).
    """
    if not takes(left, right, y, *weights) or not len(y):
        return None
    y, (pairs, d), (classes, hidden) = y.contiguous(), left.shape, weights[2].shape
    options = (features != "difference", features != "product", objective == "mse")
    numbers = PairLoss(pairs, d, hidden, classes, library().isa, *options)
    numbers.y, numbers.gemm = address("y", y, (pairs,)), library().gemm
    numbers.set_threads = library().set_threads
    shapes: dict[str, tuple[int, ...]] = {"left": (pairs, d), "right": (pairs, d)}
    shapes |= {"W_h": (hidden, d * sum(options[:2])), "b_h": (hidden,)}
    shapes |= {"W_p": (classes, hidden), "b_p": (classes,)}
    loss: Tensor | int = _Loss.apply("bough_pair_loss", numbers, shapes, left, right, *weights)  # type: ignore[no-untyped-call]
    if isinstance(loss, int):
        wrong = next(rating for rating in y.tolist() if not 1 <= rating <= classes)
        raise ValueError(f"a rating of {wrong:g}; the scale goes from 1 to {classes}")
    return loss


class _Loss(torch.autograd.Function):
    """Loss whose gradients are computed in the forward pass. The backward pass only scales them."""

    @staticmethod
    def forward(
        ctx: Any, function: str, numbers: Any, shapes: dict[str, tuple[int, ...]], *tensors: Tensor
    ) -> Tensor | int:
        plain = [t.detach().contiguous() for t in tensors]
        sizes = [(), *(t.shape for t in tensors if any(ctx.needs_input_grad))]
        # explicit, since torch's default type and device may differ from what C writes
        loss, *grads = (torch.empty(size, dtype=torch.float32, device="cpu") for size in sizes)
        for prefix, values in (("", plain), ("d", grads)):
            for (name, shape), value in zip(shapes.items(), values, strict=False):
                setattr(numbers, prefix + name, address(name, value, shape))
        code = getattr(library().functions, function)(ctypes.byref(numbers), ctypes.c_void_p(loss.data_ptr()))
        if code == 1:
            raise MemoryError("no memory for a loss")
        if code:
            return int(code)  # a number is out of range; the caller says which one
        ctx.save_for_backward(*grads)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        with torch.no_grad():
            scaled = torch._foreach_mul(ctx.saved_tensors, grad)
        return (None, None, None, *differentiated_once(tuple(scaled)))
