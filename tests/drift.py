"""Tiny trainings in float64 by the equations, whose draws and losses are pinned in `drift.json`.

A change of draws (another order of modules or of examples, another mask) changes results that are printed. Who wants
it raises CODE in paper/plan.py, pins the new digits with `pytest --pin`, and trains again.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_pre_hook

import bough

PINNED = Path(__file__).with_name("drift.json")
TOLERANCE = 1e-9


@dataclass
class Trace:
    """The draws of a training: a checksum of the initial weights, the sizes of the trees of each batch, the losses."""

    weights: list[float] = field(default_factory=list)
    batches: list[list[int]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    dev: list[dict[str, float]] = field(default_factory=list)  # the figures after each epoch

    def record_dev(self, event: Any) -> None:
        """Record the figures of an event at the end of an epoch; a callback of `bough.fit`."""
        if getattr(event, "dev", None):
            self.dev.append(event.dev)


def checksum(weights: list[Tensor]) -> list[float]:
    """Return the number of weights, and their sum with factors from 1 to 2, which depends on their order."""
    flat = torch.cat([weight.detach().flatten().double() for weight in weights])
    return [float(len(flat)), float(flat @ torch.linspace(1, 2, len(flat), dtype=torch.float64))]


@contextmanager
def traced() -> Iterator[Trace]:
    """Train in float64 by the equations, and record each step.

    Only torch's functions and `bough.Forest` are watched, so that the digits outlive a move of the code.
    """
    trace, trees = Trace(), list[int]()
    from_numpy, build = torch.from_numpy, bough.Forest.__init__
    backward: Callable[[Tensor], None] = Tensor.backward

    def double_from_numpy(array: Any) -> Tensor:
        tensor = from_numpy(array)
        return tensor.double() if array.dtype == np.float32 else tensor

    def watched_build(forest: Any, batch: Any, *arguments: Any, **options: Any) -> None:
        build(forest, batch, *arguments, **options)
        trees[:] = map(len, batch)

    def watched_backward(loss: Tensor) -> None:
        trace.batches.append([*trees])
        trace.losses.append(loss.item())
        backward(loss)

    def before_step(optimizer: torch.optim.Optimizer, arguments: Any, options: Any) -> None:
        if not trace.weights:
            trace.weights = checksum(
                [weight for group in optimizer.param_groups for weight in group["params"]]
            )

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUGH_FAST", "0")
        patch.setattr(torch, "from_numpy", double_from_numpy)
        patch.setattr(Tensor, "backward", watched_backward)
        patch.setattr(bough.Forest, "__init__", watched_build)
        hook = register_optimizer_step_pre_hook(before_step)
        torch.set_default_dtype(torch.float64)
        try:
            yield trace
        finally:
            torch.set_default_dtype(torch.float32)
            hook.remove()


def assert_pinned(name: str, trace: Trace, pin: bool) -> None:
    """Compare a trace with the pinned one of this name; with `pin`, write it first."""
    pinned = json.loads(PINNED.read_text(encoding="utf-8")) if PINNED.exists() else {}
    if pin:
        pinned[name] = asdict(trace)
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(pinned.items()))
        PINNED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    assert trace.losses, "no step was recorded"
    assert trace.batches == pinned[name]["batches"]
    assert trace.weights == pytest.approx(pinned[name]["weights"], rel=TOLERANCE, abs=TOLERANCE)
    assert trace.losses == pytest.approx(pinned[name]["losses"], rel=TOLERANCE, abs=TOLERANCE)
    for figures, expected in zip(trace.dev, pinned[name]["dev"], strict=True):
        assert {key: figures[key] for key in expected} == pytest.approx(
            expected, rel=TOLERANCE, abs=TOLERANCE
        )
