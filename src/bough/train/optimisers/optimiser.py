"""Groups of tensors, each moved by its rule at its rate, and the whole of what the rules remember."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bough.train.optimisers.rules import Rule


@dataclass(frozen=True)
class Group:
    """Tensors by name, and how they learn. `max_norm` bounds the length of each row; 0 for no bound."""

    tensors: Mapping[str, Tensor]
    rule: Rule
    rate: float
    l2: float = 0.0
    max_norm: float = 0.0


class Optimiser:
    """One step at a time for all groups. A sparse gradient moves the rows it has, and only their state.

    `clip` bounds the length of all gradients together; 0 for no bound.
    """

    def __init__(self, groups: Sequence[Group], *, clip: float = 0.0) -> None:
        self.groups, self.clip = list(groups), clip
        named = [(name, p, group.rule) for group in self.groups for name, p in group.tensors.items()]
        self.states = {name: rule.state(p) for name, p, rule in named}
        if len(self.states) < len(named):
            raise ValueError("two tensors of an optimiser have the same name; each needs its own")

    def zero_grad(self) -> None:
        """Forget the last batch's gradients."""
        for p in self._tensors():
            p.grad = None

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:
        """Move everything that has a gradient, at `scale` times its group's rate."""
        if self.clip:
            self._clip()
        for group in self.groups:
            for name, p in group.tensors.items():
                if p.grad is None:
                    continue
                move = group.rule.move_rows if p.grad.is_sparse else group.rule.move
                move(p, p.grad, self.states[name], group.rate * scale, group.l2)
                if group.max_norm:
                    p.renorm_(2, 0, group.max_norm)

    def reset(self) -> None:
        """Forget all that was remembered, as before the first step."""
        for tensor in self.state().values():
            tensor.zero_()

    def state(self) -> dict[str, Tensor]:
        """Every tensor that is remembered, by the name of its parameter and its own."""
        return {
            f"{name}.{slot}": tensor for name, state in self.states.items() for slot, tensor in state.items()
        }

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `state` gave; other names or shapes are a ValueError."""
        own = self.state()
        if wrong := sorted(own.keys() ^ tensors.keys()):
            raise ValueError(f"{wrong[0]} is {'missing' if wrong[0] in own else 'not of this optimiser'}")
        for name, tensor in own.items():
            if tensor.shape != tensors[name].shape:
                raise ValueError(f"{name} is {tuple(tensors[name].shape)}, not {tuple(tensor.shape)}")
            tensor.copy_(tensors[name])

    def _tensors(self) -> Iterator[Tensor]:
        return (p for group in self.groups for p in group.tensors.values())

    def _clip(self) -> None:
        learning = [p for p in self._tensors() if p.grad is not None]
        for p in learning:
            if p.grad is not None and p.grad.is_sparse:  # a row read twice has one gradient, the sum
                p.grad = p.grad.coalesce()
        gradients = [p.grad for p in learning if p.grad is not None]
        lengths = [torch.linalg.vector_norm(g.values() if g.is_sparse else g) for g in gradients]
        length = float(torch.linalg.vector_norm(torch.stack(lengths))) if lengths else 0.0
        if length > self.clip:
            for g in gradients:
                g.mul_(self.clip / length)
