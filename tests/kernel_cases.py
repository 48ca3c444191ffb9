"""Random forests with random weights, computed by the compiled code and by the layers' equations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from bough import Forest, Tree
from bough.nn import ChildSumTreeLSTM, NaryTreeLSTM, TreeLayer
from bough.nn.engine import run_equations
from bough.nn.kernels import loader as library
from bough.nn.kernels.tree_lstm import run_tree_lstm

FOUND = library.loaded()
needs_c = pytest.mark.skipif(not isinstance(FOUND, library.Library), reason=f"no compiled code: {FOUND}")
ISAS = [isa for isa in (512, 256, 128) if isinstance(FOUND, library.Library) and isa <= FOUND.isa]
every_isa = pytest.mark.parametrize("isa", ISAS, ids=lambda isa: f"{isa} bits")


def on(isa: int, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    """Take this instruction set."""
    assert isinstance(FOUND, library.Library)
    chosen = dataclasses.replace(FOUND, isa=isa, **more)
    monkeypatch.setattr(library, "loaded", lambda: chosen)


class Case:
    """A forest and a layer's tensors, drawn by a seed: any arity, shape, sharing, leaf, gate and mask."""

    def __init__(self, seed: int, trees: list[Tree] | None = None, **given: Any) -> None:
        draw = np.random.default_rng(seed)
        torch.manual_seed(seed)
        options: dict[str, Any] = {
            "arity": None if draw.random() < 0.3 else int(draw.integers(1, 5)),
            "affine": bool(draw.random() < 0.5),
            "output_gate": bool(draw.random() < 0.6),
            "masked": bool(draw.random() < 0.3),
            "d": int(draw.choice([1, 3, 7, 8, 16, 19, 33, 50])),
        } | given
        self.arity, self.d = options["arity"], options["d"]
        self.output_gate = options["output_gate"]
        affine = self.affine = options["affine"] and self.arity is not None
        if trees is None:
            trees = [random_tree(draw, self.arity) for _ in range(draw.integers(0, 9))]
        keys = [draw.integers(0, 3, len(tree)) for tree in trees] if draw.random() < 0.6 else None
        forest = self.forest = Forest(trees, keys)
        d, slots = self.d, self.arity or 1
        blocks = (3 if self.arity is None else 2 + self.arity) + self.output_gate
        rows = forest.num_unique_leaves if affine else len(forest.inputs)
        self.a = torch.randn(rows, ((1 + self.output_gate) if affine else blocks) * d)
        self.U = nn.Parameter(torch.randn(slots * d, (blocks - (self.arity is None)) * d) / d**0.5)
        self.b: nn.Parameter | None = None
        if self.arity is None:
            self.b = nn.Parameter(torch.randn(d, d) / d**0.5)
        elif affine:
            self.b = nn.Parameter(torch.randn(blocks * d))
        gated = forest.num_unique - (forest.num_unique_leaves if affine else 0)
        self.mask = (torch.rand(gated, d) < 0.7) / 0.7 if options["masked"] else None
        self.onto = [None if draw.random() < 0.2 else torch.randn(forest.num_unique, d) for _ in "hc"]

    @property
    def tensors(self) -> list[Tensor]:
        return [t for t in (self.a, self.U, self.b) if t is not None]

    def compiled(self) -> tuple[Tensor, Tensor]:
        """h and c by the compiled code."""
        return run_tree_lstm(self.a, self.U, self.b, self.forest, self.arity, self.output_gate, self.mask)

    def by_equations(self) -> tuple[Tensor, ...]:
        """h and c by the equations of a layer with these weights."""
        layer: TreeLayer
        if self.arity is None:
            layer = ChildSumTreeLSTM(1, self.d, output_gate=self.output_gate)
            assert self.b is not None
            layer.U, layer.U_f = self.U, self.b
        else:
            layer = _Nary(
                1, self.d, self.arity, leaf="affine" if self.affine else "gated", output_gate=self.output_gate
            )
            layer.U, layer.bias = self.U, self.b
        return run_equations(layer, self.a, self.forest, self.mask)

    def gradients(self, states: tuple[Tensor, ...], *, again: bool = False) -> list[Tensor]:
        pairs = [(s, g) for s, g in zip(states, self.onto, strict=True) if g is not None]
        if not pairs:
            return []
        outputs, onto = zip(*pairs, strict=True)
        return list(
            torch.autograd.grad(outputs, self.tensors, onto, retain_graph=again, materialize_grads=True)
        )

    def run(self, compute: Callable[[], tuple[Tensor, ...]]) -> list[Tensor]:
        """h, c and all gradients, and before them the states without gradients."""
        with torch.no_grad():
            plain = compute()
        self.a.requires_grad_()
        states = compute()
        return [*plain, *(s.detach() for s in states), *self.gradients(states)]


class _Nary(NaryTreeLSTM):
    """The layer with its biases in one vector, as the compiled code has them."""

    bias: nn.Parameter | None

    def _fused(self) -> tuple[Tensor, Tensor]:
        return self.U, self.U.new_zeros(self.U.shape[1]) if self.bias is None else self.bias


def random_tree(draw: np.random.Generator, arity: int | None, most: int = 40) -> Tree:
    """Bushy, or deep, of at most `arity` children per node."""
    n, reach = int(draw.integers(1, most)), int(draw.choice([1, 3, 100]))
    parents, degrees = [-1], [0]
    for node in range(1, n):
        open_ = [p for p in range(max(0, node - reach), node) if arity is None or degrees[p] < arity]
        parent = int(draw.choice(open_))
        parents.append(parent)
        degrees[parent] += 1
        degrees.append(0)
    return Tree(parents)
