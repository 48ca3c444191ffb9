"""The weights of a layer by the names that the paper gives them, read and replaced."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from bough.nn.base import UniformInit

Views = dict[str, tuple[Tensor, ...]]  # the views of a layer's parameters whose sum is a weight of the paper


def summed(views: Views) -> dict[str, Tensor]:
    """Return a copy of each weight. Gradients pass through it."""
    weights = {}
    for name, (first, *others) in views.items():
        weight = first.clone()
        for other in others:
            weight = weight + other
        weights[name] = weight
    return weights


def checked(layer: UniformInit, wanted: Mapping[str, Tensor], given: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the given weights in the type of the layer. Raise a ValueError for other names or shapes."""
    weights = {}
    for name, value in given.items():
        if name not in wanted:
            names = ", ".join(sorted(wanted))
            raise ValueError(f"{type(layer).__name__} has no weight {name!r}; it has {names}")
        like = wanted[name]
        weights[name] = torch.as_tensor(value, dtype=like.dtype, device=like.device)
        if weights[name].shape != like.shape:
            raise ValueError(f"{name} is {tuple(weights[name].shape)}; it must be {tuple(like.shape)}")
    for part in layer.modules():
        for name in part._shapes if isinstance(part, UniformInit) else ():
            if part._parameters.get(name) is None:
                raise ValueError(f"a parametrization computes {name}; load the weights before registering it")
    return weights


@torch.no_grad()
def write(views: Views, weights: Mapping[str, Tensor]) -> None:
    """Set the parameters so that their sums are the given weights: the first view to the weight, the others to 0."""
    for name, weight in weights.items():
        first, *others = views[name]
        first.copy_(weight)
        for other in others:
            other.zero_()
