"""Where each child's projected row is, for the compiled sweep: made once for a forest and an arity."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bough.nn.kernels.address import address
from bough.nn.kernels.loader import Library
from bough.trees.forest import Forest

Ints32 = NDArray[np.int32]


@dataclass(frozen=True)
class Plan:
    """Tables for `bough_up` and `bough_down`; plan.h says what each holds."""

    sizes: NDArray[np.int64]
    tables: Ints32  # all of them end to end
    offsets: tuple[int, ...]  # in bytes: start, child, row, place, row_of, group, dest
    slots: int
    rows: int
    places: int
    degree: int

    @property
    def addresses(self) -> tuple[int, ...]:
        start = self.tables.ctypes.data
        return tuple(start + offset for offset in self.offsets)


def plan_of(forest: Forest, arity: int | None, library: Library) -> Plan:
    """The plan of a forest on the CPU; `arity` None for Child-Sum, which has one slot for all children."""
    cache: dict[int | None, Plan] = forest.__dict__.setdefault("_plans", {})
    if arity not in cache:
        cache[arity] = _planned(forest, arity, library)
    return cache[arity]


def _planned(forest: Forest, arity: int | None, library: Library) -> Plan:
    slots = 1 if arity is None else arity
    units, edges, levels = forest.units, len(forest.children), len(forest.level_sizes)
    children, parents = forest.children.contiguous(), forest.edge_parents.contiguous()
    sizes = np.array(forest.level_sizes, dtype=np.int64)
    lengths = [units + 1, edges, edges, edges, units * slots, slots * (levels + 1), slots * levels]
    ends = np.cumsum(lengths)
    tables, counts = np.empty(ends[-1], dtype=np.int32), (ctypes.c_int64 * 3)()
    offsets = (0, *(4 * ends[:-1]).tolist())
    numbers = (units, edges, levels, slots, int(arity is None))
    edge_lists = {"children": children, "edge_parents": parents}
    arrays = [address(name, tensor, (edges,), torch.int64) for name, tensor in edge_lists.items()]
    arrays.append(sizes.ctypes.data)
    places = (tables.ctypes.data + offset for offset in offsets)
    code = library.functions.bough_plan(
        *map(ctypes.c_int64, numbers), *map(ctypes.c_void_p, (*arrays, *places)), counts
    )
    if code == 1:
        forest.slots(slots)  # says which node has too many children
    if code:
        raise MemoryError(f"no memory for the plan of {forest}")
    rows, held, degree = counts
    return Plan(sizes, tables, offsets, slots, rows, held, degree)
