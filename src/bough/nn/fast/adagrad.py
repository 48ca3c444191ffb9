"""AdaGrad's step over all parameters in one compiled call: float32 on the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from bough.nn.fast.compiled import takes
from bough.nn.fast.library import library


def adagrad_step(
    parameters: Sequence[Tensor],
    grads: Sequence[Tensor],
    sums: Sequence[Tensor],
    *,
    rate: float,
    l2: float = 0.0,
    eps: float = 1e-10,
) -> bool:
    """g += l2 p; sum += g²; p -= rate g / (√sum + eps), in place.

    False, and nothing done, where C does not take these.
    """
    every = (*parameters, *grads, *sums)
    if not takes(*every) or not all(t.is_contiguous() for t in every):
        return False
    count = len(parameters)
    sizes = (ctypes.c_int64 * count)(*(p.numel() for p in parameters))
    lists = (
        (ctypes.c_void_p * count)(*(t.data_ptr() for t in tensors)) for tensors in (parameters, grads, sums)
    )
    found = library()
    found.functions.bough_adagrad(
        ctypes.c_int64(found.isa), ctypes.c_int64(count), sizes, *lists, (ctypes.c_float * 3)(rate, l2, eps)
    )
    increment_version((*parameters, *sums))  # so that a graph of the old weights is found out
    return True


class Adagrad(torch.optim.Adagrad):
    """torch's, whose step is compiled where it can be; its state, and so a checkpoint, is the same."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        plain = closure is None and len(self.param_groups) == 1
        return None if plain and self._compiled(**self.param_groups[0]) else super().step(closure)

    @torch.no_grad()
    def _compiled(
        self,
        params: list[Tensor],
        lr: float,
        lr_decay: float,
        weight_decay: float,
        eps: float,
        maximize: bool,
        **_: Any,
    ) -> bool:
        if lr_decay or maximize:
            return False
        learnt = [p for p in params if p.grad is not None]
        states = [self.state[p] for p in learnt]
        grads, sums = [p.grad for p in learnt if p.grad is not None], [state["sum"] for state in states]
        done = adagrad_step(learnt, grads, sums, rate=lr, l2=weight_decay, eps=eps)
        if done and states:
            torch._foreach_add_([state["step"] for state in states], 1)
        return done
