"""The compiled Child-Sum and N-ary Tree-LSTM as one differentiable function: float32 on the CPU, one thread."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough.nn.engine import differentiated_once, recorded
from bough.nn.kernels.buffers import Buffer
from bough.nn.kernels.loader import address, library
from bough.trees.forest import Forest

CHUNK = 128  # rows of a level handled at once: enough for a matmul, few enough to stay in cache
NAMES = (
    "units leaves levels degree slots d child_sum output_gate keep own_inputs inputs isa few "
    "sizes input_of start child row place row_of group dest a U b mask "
    "h c g f t o hs joined p gh gc da dU db dhs dc gemm set_threads"
)


def run_tree_lstm(
    a: Tensor,
    U: Tensor,
    b: Tensor | None,
    forest: Forest,
    arity: int | None,
    output_gate: bool,
    dropout: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Return h, c (U, D) of the forest's units, differentiable in a, U and b.

    Args:
        a: the input's part of the gates, in column blocks u, i, f (one per child of an N-ary node), o, and f last for
            Child-Sum; with affine leaves, c and o of the leaves alone.
        U: the matrices of the children's h, in the same column blocks, without f for Child-Sum.
        b: U_f for Child-Sum; the bias of the inner nodes for an N-ary layer with affine leaves, None for gated ones.
        forest: the forest.
        arity: the number of slots for children, None for Child-Sum.
        output_gate: whether there is an o.
        dropout: a factor for each entry of u, one row per unit that has gates.
    """
    states: tuple[Tensor, Tensor]
    if recorded(a, U, b):
        states = _TreeLSTM.apply(a, U, b, dropout, forest, arity, output_gate)  # type: ignore[no-untyped-call]
    else:
        states = _Pass(a, U, b, dropout, forest, arity, output_gate, keep=False).forward()
    return states


@dataclass(frozen=True)
class Plan:
    """Where each child's projected row is, made once for a forest and an arity; plan.h says what each table holds."""

    sizes: NDArray[np.int64]  # of the levels, cut into pieces of at most CHUNK rows
    tables: NDArray[np.int32]  # all of them end to end
    addresses: tuple[int, ...]  # of start, child, row, place, row_of, group, dest
    slots: int
    rows: int
    places: int
    degree: int


def plan_of(forest: Forest, arity: int | None) -> Plan:
    """Return the plan of a forest on the CPU; `arity` None is Child-Sum, which has one slot for all children."""
    cache: dict[int | None, Plan] = forest.__dict__.setdefault("_plans", {})
    if arity in cache:
        return cache[arity]
    slots = 1 if arity is None else arity
    pieces = list(forest.level_sizes[:1])  # the leaves need no matmul
    for size in forest.level_sizes[1:]:
        pieces += [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    sizes = np.array(pieces, dtype=np.int64)
    units, edges, levels = forest.num_unique, len(forest.children), len(sizes)
    children, parents = forest.children.contiguous(), forest.edge_parents.contiguous()
    lengths = [units + 1, edges, edges, edges, units * slots, slots * (levels + 1), slots * levels]
    ends = np.cumsum(lengths)
    tables, counts = np.empty(ends[-1], dtype=np.int32), (ctypes.c_int64 * 3)()
    addresses = tuple(
        tables.ctypes.data + 4 * (end - length) for end, length in zip(ends.tolist(), lengths, strict=True)
    )
    code = library().functions.bough_plan(
        *map(ctypes.c_int64, (units, edges, levels, slots, int(arity is None))),
        ctypes.c_void_p(address("children", children, (edges,), torch.int64)),
        ctypes.c_void_p(address("edge_parents", parents, (edges,), torch.int64)),
        *map(ctypes.c_void_p, (sizes.ctypes.data, *addresses)),
        counts,
    )
    if code == 1:
        forest.slots(slots)  # says which node has too many children
    if code:
        raise MemoryError(f"no memory for the plan of {forest}")
    cache[arity] = Plan(sizes, tables, addresses, slots, *counts)
    return cache[arity]


class _Arguments(ctypes.Structure):
    """`Sweep` of kernel.c: a number or an address each, 0 for an array that is not there."""

    _fields_ = [(name, ctypes.c_int64) for name in NAMES.split()]


class _Pass:
    """The numbers, addresses and buffers of one forward pass, kept for its backward pass."""

    def __init__(
        self,
        a: Tensor,
        U: Tensor,
        b: Tensor | None,
        dropout: Tensor | None,
        forest: Forest,
        arity: int | None,
        output_gate: bool,
        *,
        keep: bool,
    ) -> None:
        self.library = library()
        plan = self.plan = plan_of(forest, arity)
        self.weights = [U.detach().contiguous(), None if b is None else b.detach().contiguous()]
        self.a, self.dropout = a.detach().contiguous(), None if dropout is None else dropout.contiguous()
        self.own, self.affine = forest.inputs_are_unique, arity is not None and b is not None
        self.input_of = None if self.own or self.affine else forest.input_of
        d = self.d = U.shape[0] // plan.slots
        self.width = (3 if arity is None else 2 + arity) * d + output_gate * d
        self.units = forest.num_unique
        self.gated = self.units - self.affine * forest.leaves
        rows = forest.leaves if self.affine else self.units if self.own else len(forest.inputs)
        self.input_shape = (rows, (1 + output_gate) * d if self.affine else self.width)
        self.weight_shapes: tuple[tuple[int, ...], tuple[int, ...]]
        if arity is None:
            self.weight_names, self.weight_shapes = ("U", "U_f"), ((d, self.width - d), (d, d))
        else:
            self.weight_names, self.weight_shapes = ("U", "b"), ((arity * d, self.width), (self.width,))
        numbers = self.numbers = _Arguments(
            forest.num_unique, forest.leaves, len(plan.sizes), plan.degree, plan.slots, d,
            arity is None, output_gate, keep, self.own, 0 if self.affine else rows,
            self.library.isa, self.library.few,
            plan.sizes.ctypes.data, address("input_of", self.input_of, (self.units,), torch.int64), *plan.addresses,
        )  # fmt: skip
        numbers.gemm, numbers.set_threads = self.library.gemm, self.library.set_threads
        # rows that are kept; without a gradient each row takes the place of the one before
        counts = (self.units, self.gated, forest.leaves, len(forest.children))
        units, gated, leaves, edges = counts if keep else (1, 1, 1, 1)
        self.lengths = {
            "g": gated * (self.width - (arity is None) * d),
            "f": edges * d if arity is None else 0,
            "t": units * d if output_gate else 0,
            "o": leaves * d if output_gate and self.affine else 0,
            "hs": plan.rows * d,
            "joined": d * self.width if arity is None else 0,
        }

    def forward(self) -> tuple[Tensor, Tensor]:
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
        numbers.mask = address("dropout", self.dropout, (self.gated, d))
        numbers.h, numbers.c = address("h", h, (self.units, d)), address("c", c, (self.units, d))
        self._call("bough_up")
        del self.a  # the backward pass does not read it
        return h, c

    def backward(
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
        """Give each array its part of the buffer, at a multiple of 64 bytes; an empty one is a null pointer."""
        address = buffer.floats.data_ptr()
        for name, length in lengths.items():
            setattr(self.numbers, name, address if length else 0)
            address += -(-length // 16) * 64

    def _call(self, function: str) -> None:
        if getattr(self.library.functions, function)(ctypes.byref(self.numbers)):
            raise MemoryError(f"no memory for a pass over {self.units} units")


class _TreeLSTM(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, a: Tensor, U: Tensor, b: Tensor | None, dropout: Tensor | None, *options: Any
    ) -> tuple[Tensor, Tensor]:
        ctx.run = _Pass(a, U, b, dropout, *options, keep=True)
        h, c = ctx.run.forward()
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(U, b, dropout, h, c)  # torch refuses those that were changed in between
        return h, c

    @staticmethod
    def backward(ctx: Any, gh: Tensor | None, gc: Tensor | None) -> tuple[Any, ...]:
        *_, h, c = ctx.saved_tensors
        with torch.no_grad():
            gradients = ctx.run.backward(h, c, gh, gc)
        return (*differentiated_once(gradients), None, None, None, None)
