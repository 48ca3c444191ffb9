"""Weights as the paper starts them, and drawn again by `reset_parameters`, as in torch.nn."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Weighted(nn.Module):
    """A module whose weights and biases start U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    `weight` declares one; `reset_parameters` draws all of them, in the order declared.
    """

    def __init__(self, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self._factory = {"device": device, "dtype": dtype}
        self._fan_in: dict[str, int] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}

    def weight(self, name: str, *shape: int, fan_in: int) -> None:
        """Declare the parameter `self.name`; it is drawn by `reset_parameters`."""
        self.register_parameter(name, nn.Parameter(torch.empty(*shape, **self._factory)))
        self._fan_in[name], self._shapes[name] = fan_in, shape

    def check_weights(self) -> None:
        """Raise a ValueError if a weight has been replaced by one of another shape, type or device."""
        like: Tensor | None = None
        for name, shape in self._shapes.items():
            weight = self._parameters.get(name)
            if weight is None:  # a parametrization computes it
                continue
            like = weight if like is None else like
            if weight.shape != shape or weight.dtype != like.dtype or weight.device != like.device:
                found = f"{tuple(weight.shape)} {weight.dtype} on {weight.device}"
                wanted = f"{shape} {like.dtype} on {like.device}"
                raise ValueError(f"{name} of {type(self).__name__} is {found}; it must be {wanted}")

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw every weight that `weight` declared, and those of the modules inside."""
        for name, fan_in in self._fan_in.items():
            bound = fan_in**-0.5 if fan_in else 0.0
            self.get_parameter(name).uniform_(-bound, bound)
        _reset_inside(self)


def _reset_inside(module: nn.Module) -> None:
    for child in module.children():
        if callable(reset := getattr(child, "reset_parameters", None)):
            reset()
        else:  # a list of modules
            _reset_inside(child)
