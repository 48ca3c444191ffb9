"""The compiled sweep as one differentiable function: float32 on the CPU, one thread."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor

from bough.nn.engine import differentiated_once, recorded
from bough.nn.kernels.address import address
from bough.nn.kernels.buffers import Buffer
from bough.nn.kernels.loader import library, path
from bough.nn.kernels.plan import plan_of
from bough.trees.forest import Forest

NAMES = (
    "units leaves levels degree slots d child_sum output_gate keep own_inputs inputs isa few "
    "sizes input_of start child row place row_of group dest a U b mask "
    "h c g f t o hs joined p gh gc da dU db dhs dc gemm set_threads"
)


class Sweep(ctypes.Structure):
    """As in kernel.c: a number or an address each, 0 for an array that is not there."""

    _fields_ = [(name, ctypes.c_int64) for name in NAMES.split()]


def takes(*tensors: Tensor | None) -> bool:
    """Whether the compiled sweep is on and takes these tensors."""
    return path() == "c" and all(
        t is None or (t.dtype == torch.float32 and t.device.type == "cpu" and t.layout == torch.strided)
        for t in tensors
    )


def sweep(
    a: Tensor,
    U: Tensor,
    b: Tensor | None,
    forest: Forest,
    arity: int | None,
    output_gate: bool,
    mask: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """h, c of the forest's units; `arity` None for Child-Sum, where `b` is U_f."""
    states: tuple[Tensor, Tensor]
    if recorded(a, U, b):
        states = _Compiled.apply(a, U, b, mask, forest, arity, output_gate)  # type: ignore[no-untyped-call]
    else:
        states = _Run(a, U, b, mask, forest, arity, output_gate, keep=False).up()
    return states


class _Run:
    """One sweep's numbers, addresses and buffers."""

    def __init__(
        self,
        a: Tensor,
        U: Tensor,
        b: Tensor | None,
        mask: Tensor | None,
        forest: Forest,
        arity: int | None,
        output_gate: bool,
        *,
        keep: bool,
    ) -> None:
        self.library = library()
        plan = self.plan = plan_of(forest, arity, self.library)
        self.weights = [U.detach().contiguous(), None if b is None else b.detach().contiguous()]
        self.a, self.mask = a.detach().contiguous(), None if mask is None else mask.detach().contiguous()
        self.own, self.affine = forest.own_inputs, arity is not None and b is not None
        self.input_of = None if self.own or self.affine else forest.input_of
        d = self.d = U.shape[0] // plan.slots
        self.width = (3 if arity is None else 2 + arity) * d + output_gate * d
        self.units = forest.units
        self.gated = self.units - self.affine * forest.leaves
        rows = forest.leaves if self.affine else self.units if self.own else len(forest.inputs)
        self.input_shape = (rows, (1 + output_gate) * d if self.affine else self.width)
        self.weight_shapes: tuple[tuple[int, ...], tuple[int, ...]]
        if arity is None:
            self.weight_names, self.weight_shapes = ("U", "U_f"), ((d, self.width - d), (d, d))
        else:
            self.weight_names, self.weight_shapes = ("U", "b"), ((arity * d, self.width), (self.width,))
        numbers = self.numbers = Sweep(
            forest.units, forest.leaves, len(plan.sizes), plan.degree, plan.slots, d,
            arity is None, output_gate, keep, self.own, 0 if self.affine else rows,
            self.library.isa, self.library.few,
            plan.sizes.ctypes.data, address("input_of", self.input_of, (self.units,), torch.int64), *plan.addresses,
        )  # fmt: skip
        numbers.gemm, numbers.set_threads = self.library.gemm, self.library.set_threads
        (
            units,
            gated,
            leaves,
            edges,
        ) = (  # rows that each keeps; without a gradient the next row takes its place
            rows if keep else 1
            for rows in (
                self.units,
                self.gated,
                forest.leaves,
                len(forest.children),
            )
        )
        self.lengths = {
            "g": gated * (self.width - (arity is None) * d),
            "f": edges * d if arity is None else 0,
            "t": units * d if output_gate else 0,
            "o": leaves * d if output_gate and self.affine else 0,
            "hs": plan.rows * d,
            "joined": d * self.width if arity is None else 0,
        }

    def up(self) -> tuple[Tensor, Tensor]:
        a, d = self.a, self.d
        h, c = (a.new_empty(self.units, d) for _ in "hc")
        self.kept = Buffer(sum(self.lengths.values()) + 16 * len(self.lengths))
        self._hand_out(self.kept, self.lengths)
        places = {"p": self.plan.places * self.width}
        scratch = Buffer(places["p"] + 16)
        self._hand_out(scratch, places)
        numbers = self.numbers
        numbers.a = address("a", a, self.input_shape)
        numbers.U, numbers.b = map(address, self.weight_names, self.weights, self.weight_shapes)
        numbers.mask = address("mask", self.mask, (self.gated, d))
        numbers.h, numbers.c = address("h", h, (self.units, d)), address("c", c, (self.units, d))
        self._call("bough_up")
        del self.a  # the way down does not look at it
        return h, c

    def down(
        self, h: Tensor, c: Tensor, gh: Tensor | None, gc: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        U, b = self.weights
        assert U is not None
        da, dU = U.new_empty(self.input_shape), torch.empty_like(U)
        db = None if b is None else torch.empty_like(b)
        lengths = {
            "p": self.plan.rows * self.width,
            "dhs": self.plan.rows * self.d,
            "dc": self.units * self.d,
        }
        scratch = Buffer(sum(lengths.values()) + 16 * len(lengths))
        self._hand_out(scratch, lengths)
        numbers = self.numbers
        gh, gc = (None if grad is None else grad.contiguous() for grad in (gh, gc))
        states = {"h": h, "c": c, "gh": gh, "gc": gc}
        numbers.h, numbers.c, numbers.gh, numbers.gc = (
            address(name, state, (self.units, self.d)) for name, state in states.items()
        )
        numbers.da = address("da", da, self.input_shape)
        numbers.dU, numbers.db = map(address, ("dU", "db"), (dU, db), self.weight_shapes)
        self._call("bough_down")
        return da, dU, db

    def _hand_out(self, buffer: Buffer, lengths: dict[str, int]) -> None:
        """Each part starts at a multiple of 64 bytes; a part of nothing is a null pointer."""
        address = buffer.floats.data_ptr()
        for name, length in lengths.items():
            setattr(self.numbers, name, address if length else 0)
            address += -(-length // 16) * 64

    def _call(self, function: str) -> None:
        if getattr(self.library.functions, function)(ctypes.byref(self.numbers)):
            raise MemoryError(f"no memory for a sweep of {self.units} units")


class _Compiled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        a: Tensor,
        U: Tensor,
        b: Tensor | None,
        mask: Tensor | None,
        forest: Forest,
        arity: int | None,
        output_gate: bool,
    ) -> tuple[Tensor, Tensor]:
        ctx.run = _Run(a, U, b, mask, forest, arity, output_gate, keep=True)
        h, c = ctx.run.up()
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(U, b, mask, h, c)  # catches what was changed in between
        return h, c

    @staticmethod
    def backward(ctx: Any, gh: Tensor | None, gc: Tensor | None) -> tuple[Any, ...]:
        *_, h, c = ctx.saved_tensors
        with torch.no_grad():
            found = ctx.run.down(h, c, gh, gc)
        return (*differentiated_once(found), None, None, None, None)
