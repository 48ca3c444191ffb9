"""Compiled Child-Sum and N-ary Tree-LSTM: one differentiable function, in float32 on one thread of the CPU."""

import ctypes
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from bough.nn.engine import differentiated_once, recorded
from bough.nn.kernels.buffers import Buffer
from bough.nn.kernels.loader import address, array_address, library, path, structure
from bough.trees.forest import Forest

SMALL = 1024  # the most nodes of a forest that is computed by one call without a schedule
CHUNK = 128  # rows of a level computed at once: enough for a matmul, few enough to stay in the cache
TreePass = structure(
    "units leaves levels degree slots d child_sum output_gate keep own_inputs inputs isa few given "
    "sizes input_of node start child row place row_of group dest a U b mask "
    "h c g f t o hs joined p gh gc da dU db dhs dc gemm set_threads"
)
Inference = structure(
    "nodes inputs maps d slots child_sum output_gate affine chunk isa few "
    "parents known x W b_W b_U U U_f h c memory gemm set_threads"
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
    """Return h, c (U, D) of the unique nodes of a forest, differentiable in a, U and b.

    Args:
        a: the part of the gates that depends on x: column blocks u, i, f (one per slot), o for
            N-ary, and u, i, o, f for Child-Sum; with affine leaves, c and o of the leaves only.
        U: the matrices of the children's h, in the same column blocks; without f for Child-Sum.
        b: U_f for Child-Sum; the bias of the inner nodes for N-ary with affine leaves, None with gated leaves.
        forest: the forest.
        arity: the number of slots for children, None for Child-Sum.
        output_gate: whether there is an o.
        dropout: a factor for each entry of u, one row per unique node that has gates.
    """
    if not recorded(a, U, b):
        return _Pass(U, b, forest, arity, output_gate, keep=False).forward(a, dropout)
    h, c = _TreeLSTM.apply(a, U, b, dropout, forest, arity, output_gate)  # type: ignore[no-untyped-call]
    return h, c


def infer_tree_lstm(
    layer: Any, x: Tensor, forest: Forest, arity: int | None, table: ctypes.Structure | None
) -> tuple[Tensor, Tensor] | None:
    """Return h, c (N, D) of the nodes of a small forest by one compiled call without gradient.

    Return None if `forward` has to compute them, or has to raise an error for a wrong input or forest.

    Args:
        layer: a `ChildSumTreeLSTM`, or an `NaryTreeLSTM` with `forget="full"`.
        x: (N, X).
        forest: the forest.
        arity: the number of slots for children, None for Child-Sum.
        table: the states of known subtrees, to which new ones are added; see `StateCache`.
    """
    weights, parents, grad = layer._parameters, forest.parents, torch.is_grad_enabled()
    if parents is None or path() != "c" or torch.is_autocast_enabled("cpu"):
        return None
    if table is None and (forest.keys is not None or len(parents) > SMALL):
        return None
    nodes, inputs = len(parents), layer.input_size
    expected = [(x, (nodes, inputs)), *((weights.get(name), shape) for name, shape in layer._shapes.items())]
    for tensor, shape in expected:  # a weight is None if a parametrization computes it
        if tensor is None or tensor.shape != shape or tensor.dtype is not torch.float32 or not tensor.is_cpu:
            return None
        if not tensor.is_contiguous() or (grad and tensor.requires_grad):
            return None
    lib, d, W = library(), layer.hidden_size, weights["W"]
    affine, slots = arity is not None and layer.leaf_inputs, arity or 1
    maps, width = W.shape[0] // d, (2 + slots + layer.output_gate) * d
    bias, U_f = (weights["b_U"].sum(0), 0) if arity else (weights["b_U"], weights["U_f"].data_ptr())
    h, c = x.new_empty((nodes, d)), x.new_empty((nodes, d))
    memory = Buffer((nodes + 1) * (inputs + (maps + 2 * slots + 2) * d + width * (1 + slots)))
    numbers = Inference(
        nodes, inputs, maps, d, slots, arity is None, layer.output_gate, affine, CHUNK, lib.isa, lib.few,
        array_address(parents), 0, x.data_ptr(), W.data_ptr(), weights["b_W"].data_ptr(), bias.data_ptr(),
        weights["U"].data_ptr(), U_f, h.data_ptr(), c.data_ptr(), memory.floats.data_ptr(), lib.gemm,
        lib.set_threads,
    )  # fmt: skip
    if table is None:
        code = lib.functions.bough_infer(ctypes.byref(numbers))
    else:
        code = lib.functions.bough_infer_cached(ctypes.byref(numbers), ctypes.byref(table))
    return None if code else (h, c)


@dataclass(frozen=True)
class Plan:
    """Index tables for the kernel, made once per forest and arity; plan.h describes each table."""

    sizes: Tensor  # of the levels, divided into pieces of at most CHUNK rows
    tables: Tensor  # all tables, concatenated
    addresses: tuple[int, ...]  # of start, child, row, place, row_of, group, dest
    slots: int
    rows: int
    places: int
    degree: int


@torch.inference_mode(False)  # the plan may be used later in training
def plan_of(forest: Forest, arity: int | None) -> Plan:
    """Return the plan of a forest on the CPU; `arity` is None for Child-Sum, which has one slot for all children."""
    # the plan depends only on the shape of the forest, so it is made once and used in every step
    cache: dict[int | None, Plan] = forest.__dict__.setdefault("_plans", {})
    if arity in cache:
        return cache[arity]
    slots = 1 if arity is None else arity
    pieces = list(forest.level_sizes[:1])  # the leaves need no matmul
    for size in forest.level_sizes[1:]:
        pieces += [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    sizes = torch.tensor(pieces, dtype=torch.int64)
    units, edges, levels = forest.num_unique, len(forest.children), len(sizes)
    children, parents = forest.children.contiguous(), forest.edge_parents.contiguous()
    lengths = [units + 1, edges, edges, edges, units * slots, slots * (levels + 1), slots * levels]
    *starts, total = accumulate(lengths, initial=0)
    tables, counts = torch.empty(total, dtype=torch.int32), (ctypes.c_int64 * 3)()
    addresses = tuple(tables.data_ptr() + 4 * start for start in starts)
    code = library().functions.bough_plan(
        *map(ctypes.c_int64, (units, edges, levels, slots, int(arity is None))),
        ctypes.c_void_p(address("children", children, (edges,), torch.int64)),
        ctypes.c_void_p(address("edge_parents", parents, (edges,), torch.int64)),
        *map(ctypes.c_void_p, (sizes.data_ptr(), *addresses)),
        counts,
    )
    if code == 1:
        forest.check_arity(slots)  # raises an error that names the node with too many children
    if code:
        raise MemoryError(f"no memory for the plan of {forest}")
    cache[arity] = Plan(sizes, tables, addresses, slots, *counts)
    return cache[arity]


class _Pass:
    """Arguments and memory of one forward pass and, with `keep`, of its backward pass."""

    def __init__(
        self, U: Tensor, b: Tensor | None, forest: Forest, arity: int | None, output_gate: bool, *, keep: bool
    ) -> None:
        plan = self.plan = plan_of(forest, arity)
        units, leaves, own = forest.num_unique, forest.num_unique_leaves, forest.inputs_are_unique
        affine, d = arity is not None and b is not None, U.shape[0] // plan.slots
        gated, self.width = units - affine * leaves, (2 + plan.slots + output_gate) * d
        rows = leaves if affine else units if own else len(forest.inputs)
        self.shapes: dict[str, tuple[int, ...]] = {
            "a": (rows, (1 + output_gate) * d if affine else self.width),
            "U": (d, self.width - d) if arity is None else (arity * d, self.width),
            "b": (d, d) if arity is None else (self.width,),
            "mask": (gated, d),
            "h": (units, d),
        }
        lib = library()
        # an attribute, since the forest may have been deleted before the backward pass
        self.input_of = None if own or affine else forest.input_of
        self.numbers = TreePass(
            units, leaves, len(plan.sizes), plan.degree, plan.slots, d, arity is None, output_gate, keep, own,
            0 if affine else rows, lib.isa, lib.few, 0,
            plan.sizes.data_ptr(), address("input_of", self.input_of, (units,), torch.int64), 0, *plan.addresses,
            gemm=lib.gemm, set_threads=lib.set_threads,
        )  # fmt: skip
        # the backward pass needs all rows; without it, one row is reused for all
        counts = (units, gated, leaves, len(forest.children))
        units, gated, leaves, edges = counts if keep else (1, 1, 1, 1)
        self.kept = self._memory(
            g=gated * (self.width - (arity is None) * d),
            f=edges * d if arity is None else 0,
            t=units * d if output_gate else 0,
            o=leaves * d if output_gate and affine else 0,
            hs=plan.rows * d,
            joined=d * self.width if keep and arity is None else 0,
        )
        self.weights = {"U": U.detach().contiguous(), "b": None if b is None else b.detach().contiguous()}

    def forward(self, a: Tensor, dropout: Tensor | None) -> tuple[Tensor, Tensor]:
        a, self.dropout = a.detach().contiguous(), None if dropout is None else dropout.contiguous()
        h, c = a.new_empty(self.shapes["h"]), a.new_empty(self.shapes["h"])
        scratch = self._memory(p=self.plan.places * self.width)
        self._call("bough_forward", a=a, **self.weights, mask=self.dropout, h=h, c=c)
        del scratch
        return h, c

    def backward(
        self, h: Tensor, c: Tensor, gh: Tensor | None, gc: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        gh, gc = (None if grad is None else grad.contiguous() for grad in (gh, gc))
        U, b = self.weights.values()
        assert U is not None
        da, dU = U.new_empty(self.shapes["a"]), torch.empty_like(U)
        db = None if b is None else torch.empty_like(b)
        rows, (units, d) = self.plan.rows, self.shapes["h"]
        scratch = self._memory(p=rows * self.width, dhs=rows * d, dc=units * d)
        self._call("bough_backward", h=h, c=c, gh=gh, gc=gc, da=da, dU=dU, db=db)
        del scratch
        return da, dU, db

    def _memory(self, **lengths: int) -> Buffer:
        """Allocate arrays in one buffer, each aligned to 64 bytes, and set their addresses; 0 for an empty array."""
        buffer = Buffer(sum(lengths.values()) + 16 * len(lengths))
        address = buffer.floats.data_ptr()
        for name, length in lengths.items():
            setattr(self.numbers, name, address if length else 0)
            address += -(-length // 16) * 64
        return buffer

    def _call(self, function: str, **tensors: Tensor | None) -> None:
        for name, tensor in tensors.items():
            shape = self.shapes["h" if name in ("c", "gh", "gc") else name.removeprefix("d")]
            setattr(self.numbers, name, address(name, tensor, shape))
        if getattr(library().functions, function)(ctypes.byref(self.numbers)):
            raise MemoryError(f"no memory for a pass over {self.numbers.units} nodes")


class _TreeLSTM(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, a: Tensor, U: Tensor, b: Tensor | None, dropout: Tensor | None, *options: Any
    ) -> tuple[Tensor, Tensor]:
        ctx.run = _Pass(U, b, *options, keep=True)
        h, c = ctx.run.forward(a, dropout)
        ctx.set_materialize_grads(False)
        # so that torch raises an error if one is changed before the backward pass
        ctx.save_for_backward(U, b, dropout, h, c)
        return h, c

    @staticmethod
    def backward(ctx: Any, gh: Tensor | None, gc: Tensor | None) -> tuple[Any, ...]:
        *_, h, c = ctx.saved_tensors
        with torch.no_grad():
            gradients = ctx.run.backward(h, c, gh, gc)
        return (*differentiated_once(gradients), None, None, None, None)
