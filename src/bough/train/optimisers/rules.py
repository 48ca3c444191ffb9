"""How a tensor moves against its gradient, one class per rule: what it remembers, and its equations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

State = dict[str, Tensor]


class Rule(ABC):
    """Moves a tensor p by its gradient g. `rate` scales the move, `l2` is added as l2 · p to the gradient.

    Rows of p are independent: `move_rows` gives a sparse gradient's rows the same equations as `move` gives
    a whole tensor, with their own rows of the state, and leaves all others as they are.
    """

    slots: ClassVar[tuple[str, ...]] = ()  # what it remembers for each number of p

    def state(self, p: Tensor) -> State:
        """What is remembered before the first move."""
        return {slot: torch.zeros_like(p, requires_grad=False) for slot in self.slots}

    @abstractmethod
    def move(self, p: Tensor, g: Tensor, state: State, rate: float, l2: float) -> None:
        """One step of p and its state, in place."""

    def move_rows(self, p: Tensor, g: Tensor, state: State, rate: float, l2: float) -> None:
        """The same for the rows that a sparse gradient has; the gradients of equal rows are added first."""
        g = g.coalesce()
        rows = g.indices()[0]
        part, held = p.index_select(0, rows), {name: s.index_select(0, rows) for name, s in state.items()}
        self.move(part, g.values(), held, rate, l2)
        p.index_copy_(0, rows, part)
        for name, s in held.items():
            state[name].index_copy_(0, rows, s)


class Plain(Rule):
    """p -= rate · g."""

    def move(self, p: Tensor, g: Tensor, state: State, rate: float, l2: float) -> None:
        p.sub_(_with_l2(p, g, l2), alpha=rate)

    def move_rows(self, p: Tensor, g: Tensor, state: State, rate: float, l2: float) -> None:
        if l2:
            super().move_rows(p, g, state, rate, l2)
        else:  # linear in g: each gradient can be added where it belongs, equal rows or not
            p.index_add_(0, g._indices()[0], g._values(), alpha=-rate)


@dataclass(frozen=True)
class AdaGrad(Rule):
    """s += g²; p -= rate · g / (√s + eps)."""

    eps: float = 1e-10
    slots = ("sum",)

    def move(self, p: Tensor, g: Tensor, state: State, rate: float, l2: float) -> None:
        if p.device.type == "cpu":  # one pass over the memory
            torch._fused_adagrad_(
                [p],
                [g],
                [state["sum"]],
                [torch.ones(())],  # steps, which matter to a decay only
                lr=rate,
                lr_decay=0.0,
                weight_decay=l2,
                eps=self.eps,
                maximize=False,
            )
            return
        g = _with_l2(p, g, l2)
        s = state["sum"].addcmul_(g, g)
        p.addcdiv_(g, s.sqrt().add_(self.eps), value=-rate)


@dataclass(frozen=True)
class AdaDelta(Rule):
    """s = ρ s + (1 - ρ) g²; d = g √(t + eps) / √(s + eps); t = ρ t + (1 - ρ) d²; p -= rate · d."""

    rho: float = 0.95
    eps: float = 1e-6
    slots = ("square", "change")

    def move(self, p: Tensor, g: Tensor, state: State, rate: float, l2: float) -> None:
        g = _with_l2(p, g, l2)
        s, t = state["square"], state["change"]
        s.mul_(self.rho).addcmul_(g, g, value=1 - self.rho)
        d = (t + self.eps).div_(s + self.eps).sqrt_().mul_(g)
        t.mul_(self.rho).addcmul_(d, d, value=1 - self.rho)
        p.sub_(d, alpha=rate)


@dataclass(frozen=True)
class Adam(Rule):
    """m = β₁ m + (1 - β₁) g; s = β₂ s + (1 - β₂) g²; p -= rate · m' / (√s' + eps).

    m' = m / (1 - β₁ⁿ) and s' = s / (1 - β₂ⁿ) after n steps; n is counted for each row of p.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    slots = ("mean", "square")
    _fused: ClassVar[Any] = staticmethod(torch._fused_adam_)

    def state(self, p: Tensor) -> State:
        steps = p.new_zeros(p.shape[:1] + (1,) * (p.dim() - 1))
        return {**super().state(p), "steps": steps}

    def move(self, p: Tensor, g: Tensor, state: State, rate: float, l2: float) -> None:
        m, s, n = state["mean"], state["square"], state["steps"].add_(1)
        first = n.flatten()[:1].squeeze()
        if p.device.type == "cpu" and bool((n == first).all()):  # one pass over the memory
            self._fused(
                [p],
                [g.contiguous()],
                [m],
                [s],
                [],
                [first],
                lr=rate,
                beta1=self.beta1,
                beta2=self.beta2,
                weight_decay=l2,
                eps=self.eps,
                amsgrad=False,
                maximize=False,
            )
        else:
            self._apart(p, g, (m, s, n), rate, l2)

    def _apart(
        self, p: Tensor, g: Tensor, state: tuple[Tensor, Tensor, Tensor], rate: float, l2: float
    ) -> None:
        """Row by row, each after steps of its own."""
        g, (m, s, n) = _with_l2(p, g, l2), state
        m.lerp_(g, 1 - self.beta1)
        s.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
        p.addcdiv_(m / (1 - self.beta1**n), (s / (1 - self.beta2**n)).sqrt_().add_(self.eps), value=-rate)


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam, with the L2 apart from the gradient: p -= rate · l2 · p first."""

    _fused: ClassVar[Any] = staticmethod(torch._fused_adamw_)

    def _apart(
        self, p: Tensor, g: Tensor, state: tuple[Tensor, Tensor, Tensor], rate: float, l2: float
    ) -> None:
        p.mul_(1 - rate * l2)
        super()._apart(p, g, state, rate, 0.0)


def _with_l2(p: Tensor, g: Tensor, l2: float) -> Tensor:
    return g.add(p, alpha=l2) if l2 else g
