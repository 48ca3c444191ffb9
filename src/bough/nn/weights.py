"""Weights as the paper starts them, and drawn again by `reset_parameters`, as in torch.nn."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Weighted(nn.Module):
    """A module whose weights and biases start U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    `weight` declares one; `reset_parameters` draws all of them, in the order declared.
    """

    def __init__(self, *, device: Any = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self._factory = {"device": device, "dtype": dtype}
        self._fan_in: dict[str, int] = {}

    def weight(self, name: str, *shape: int, fan_in: int) -> None:
        """Declare the parameter `self.name`; it is drawn by `reset_parameters`."""
        self.register_parameter(name, nn.Parameter(torch.empty(*shape, **self._factory)))
        self._fan_in[name] = fan_in

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
