"""The losses of training with their gradients, each in one compiled call: float32 on the CPU."""

from __future__ import annotations

import ctypes
from itertools import repeat
from typing import Any

import torch
from torch import Tensor

from bough.nn.engine import differentiated_once
from bough.nn.kernels.loader import address, library, takes

NODE_NAMES = "nodes states d classes isa rows labels h W b mask dh dW db"
PAIR_NAMES = (
    "pairs d hidden classes product difference squared left_step right_step left right y W_h b_h W_p b_p "
    "dleft dright dW_h db_h dW_p db_p gemm set_threads"
)


class _NodeLoss(ctypes.Structure):
    """As in kernel.c."""

    _fields_ = [*((name, ctypes.c_int64) for name in NODE_NAMES.split()), ("scale", ctypes.c_double)]


class _PairLoss(ctypes.Structure):
    """As in kernel.c."""

    _fields_ = [(name, ctypes.c_int64) for name in PAIR_NAMES.split()]


def node_loss(
    h: Tensor, W: Tensor, b: Tensor, rows: Tensor, labels: Tensor, mask: Tensor | None, scale: float
) -> Tensor | None:
    """Return the sum over nodes of -log softmax(scale * W (h[rows] ⊙ mask) + b)[label], or None without C.

    Shape: h (U, D), W (K, D), b (K), rows and labels (N,) in range, mask (N, D) or None.
    """
    if not takes(h, W, b, mask):
        return None
    loss: Tensor = _Loss.apply(_node_call, (rows, labels, mask, scale), h, W, b)  # type: ignore[no-untyped-call]
    return loss


def pair_loss(
    left: Tensor,
    right: Tensor,
    y: Tensor,
    W_h: Tensor,
    b_h: Tensor,
    W_p: Tensor,
    b_p: Tensor,
    *,
    features: str = "both",
    objective: str = "kl",
) -> Tensor | None:
    """Return the loss of `Similarity`, by its equations and options; None where C does not take these.

    Shape: left, right (B, D), y (B,) in [1, K], W_h (H, D or 2D), b_h (H), W_p (K, H), b_p (K).
    """
    tensors = (left, right, W_h, b_h, W_p, b_p)
    if not takes(y, *tensors) or not len(y):
        return None
    loss: Tensor = _Loss.apply(_pair_call, (y, features, objective), *tensors)  # type: ignore[no-untyped-call]
    return loss


def _floats(shape: torch.Size) -> Tensor:
    """As C writes them, whatever torch's defaults are."""
    return torch.empty(shape, dtype=torch.float32, device="cpu")


class _Loss(torch.autograd.Function):
    """A loss whose gradients are made along with it: a number's are only to be scaled."""

    @staticmethod
    def forward(ctx: Any, call: Any, options: tuple[Any, ...], *tensors: Tensor) -> Tensor:
        plain = [t.detach() if t.stride(-1) == 1 else t.detach().contiguous() for t in tensors]
        grads = [_floats(t.shape) for t in tensors] if any(ctx.needs_input_grad) else []
        loss = _floats(torch.Size())
        call(loss, plain, grads, *options)
        ctx.save_for_backward(*grads)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        with torch.no_grad():
            scaled = torch._foreach_mul(ctx.saved_tensors, grad)
        return (None, None, *differentiated_once(tuple(scaled)))


def _node_call(
    loss: Tensor,
    tensors: list[Tensor],
    grads: list[Tensor],
    rows: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    scale: float,
) -> None:
    h, W, b = (t.contiguous() for t in tensors)
    rows, labels = rows.contiguous(), labels.contiguous()
    mask = None if mask is None else mask.contiguous()
    (states, d), nodes, classes = h.shape, len(rows), len(W)
    sizes = (nodes, states, d, classes, library().isa)
    shapes = {"h": (states, d), "W": (classes, d), "b": (classes,)}
    addresses = [
        address("rows", rows, (nodes,), torch.int64),
        address("labels", labels, (nodes,), torch.int64),
    ]
    addresses += map(address, shapes, (h, W, b), shapes.values())
    addresses.append(address("mask", mask, (nodes, d)))
    addresses += map(address, shapes, grads or repeat(None), shapes.values())
    if _call("bough_node_loss", _NodeLoss(*sizes, *addresses, scale), loss) == 2:
        raise IndexError(f"rows or labels out of range: there are {len(h)} states and {len(W)} classes")


def _pair_call(
    loss: Tensor, tensors: list[Tensor], grads: list[Tensor], y: Tensor, features: str, objective: str
) -> None:
    left, right, *weights = tensors
    weights, y = [w.contiguous() for w in weights], y.contiguous()
    (pairs, d), (classes, hidden) = left.shape, weights[2].shape
    columns = d * (2 if features == "both" else 1)
    shapes = {"W_h": (hidden, columns), "b_h": (hidden,), "W_p": (classes, hidden), "b_p": (classes,)}
    both = {"left": (pairs, d), "right": (pairs, d)}
    addresses = [address(*side, by_row=True) for side in zip(both, (left, right), both.values(), strict=True)]
    addresses.append(address("y", y, (pairs,)))
    addresses += map(address, shapes, weights, shapes.values())
    shapes = both | shapes
    addresses += map(address, shapes, grads or repeat(None), shapes.values())
    options = (features != "difference", features != "product", objective == "mse")
    steps = (left.stride(0), right.stride(0))
    blas = (library().gemm, library().set_threads)
    code = _call(
        "bough_pair_loss", _PairLoss(pairs, d, hidden, classes, *options, *steps, *addresses, *blas), loss
    )
    if code == 2:
        wrong = next(rating for rating in y.tolist() if not 1 <= rating <= classes)
        raise ValueError(f"a rating of {wrong:g}; the scale goes from 1 to {classes}")


def _call(function: str, numbers: ctypes.Structure, loss: Tensor) -> int:
    place = ctypes.c_void_p(address("loss", loss, ()))
    code: int = getattr(library().functions, function)(ctypes.byref(numbers), place)
    if code == 1:
        raise MemoryError("no memory for a loss")
    return code
