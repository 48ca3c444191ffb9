"""One sweep of a recursive network: h_j = g(a_j + Σ_k (U_r h_k + b_r)) level by level, and its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from bough.nn.engine import Grads, Rows, recorded, sweep
from bough.trees.forest import Forest

Slope = Callable[[Tensor], Tensor]
NONLINEARITIES: dict[str, tuple[Callable[[Tensor], Tensor], Slope]] = {  # and the slope, from the value
    "tanh": (torch.tanh, lambda h: 1 - h * h),
    "relu": (torch.relu, lambda h: (h > 0).to(h.dtype)),
    "sigmoid": (torch.sigmoid, lambda h: h * (1 - h)),
}


def sweep_recursive(
    a: Tensor,
    U: Tensor,
    b: Tensor,
    forest: Forest,
    relations: Tensor | None,
    nonlinearity: str,
    average: bool,
) -> tuple[Tensor, ...]:
    """h (U, D) of the forest's units; see `RecursiveCell`."""
    return sweep(RecursiveCell(a, U, b, forest, relations, nonlinearity, average), forest, a, U, b)


class RecursiveCell:
    """`a` (M, D) is the input's part; U (R, D, D) and b (R, D) one affine map a relation.

    Edges are kept sorted by parent; `relations` (E,) says which map each goes through, None for the only one.
    With `average`, messages are weighted by the size of the child's subtree, sums divided by the parent's.
    """

    def __init__(
        self,
        a: Tensor,
        U: Tensor,
        b: Tensor,
        forest: Forest,
        relations: Tensor | None,
        nonlinearity: str,
        average: bool,
    ) -> None:
        self.keep = recorded(a, U, b)
        self.forest, self.relations = forest, relations
        self.a, self.U, self.b = a.detach(), U.detach(), b.detach()
        self.squash, self.slope = NONLINEARITIES[nonlinearity]
        self.h = a.new_empty(forest.units, a.shape[1])
        self.h_of = self.h.split(forest.level_sizes)
        self.input_of = forest.input_of.split(forest.level_sizes)
        self.hk = Rows(a, forest.edge_sizes, a.shape[1], self.keep)
        self.hk_of = self.hk.levels()
        self.children, self.parents = (
            edges.split(forest.edge_sizes) for edges in (forest.children, forest.edge_rows)
        )
        self.groups = (
            [_by_relation(part) for part in relations.split(forest.edge_sizes)]
            if relations is not None
            else []
        )
        self.sizes = forest.subtree_sizes.to(a.dtype).unsqueeze(1) if average else None

    def up(self, l: int) -> None:
        z = self.a.index_select(0, self.input_of[l])
        if l > 0:
            torch.index_select(self.h, 0, self.children[l], out=self.hk_of[l])
            messages = self._mapped(self.hk_of[l], l)
            if self.sizes is not None:
                messages *= self.sizes.index_select(0, self.children[l])
            z.index_add_(0, self.parents[l], messages)
        if self.sizes is not None:
            z /= self._rows(self.sizes, l)
        self.h_of[l].copy_(self.squash(z))

    def _mapped(self, hk: Tensor, l: int) -> Tensor:
        """(E, D) every child's state through its relation's affine map."""
        if self.relations is None:
            return torch.addmm(self.b[0], hk, self.U[0])
        out = torch.empty_like(hk)
        for relation, edges in self.groups[l]:
            out[edges] = torch.addmm(self.b[relation], hk[edges], self.U[relation])
        return out

    def _rows(self, of_units: Tensor, l: int) -> Tensor:
        start, end = self.forest.slices[l]
        return of_units[start:end]

    def states(self) -> tuple[Tensor]:
        return (self.h[:],)

    def turn(self, grads: Sequence[Tensor | None]) -> None:
        """Start the way down from the gradient of h."""
        (grad,) = grads
        self.dz = (
            torch.zeros_like(self.h) if grad is None else grad.clone()
        )  # dh first, dz once a level is done
        self.dm = torch.empty_like(self.hk.whole)  # of the messages
        self.dm_of = self.dm.split(self.forest.edge_sizes)

    def down(self, l: int) -> None:
        dz = self._rows(self.dz, l)
        dz *= self.slope(self.h_of[l])
        if self.sizes is not None:
            dz /= self._rows(self.sizes, l)
        if l == 0:
            return
        dm = self.dm_of[l]
        torch.index_select(dz, 0, self.parents[l], out=dm)
        if self.sizes is not None:
            dm *= self.sizes.index_select(0, self.children[l])
        if self.relations is None:
            dhk = torch.mm(dm, self.U[0].t())
        else:
            dhk = torch.empty_like(dm)
            for relation, edges in self.groups[l]:
                dhk[edges] = torch.mm(dm[edges], self.U[relation].t())
        self.dz.index_add_(0, self.children[l], dhk)

    def gradients(self) -> Grads:
        """Of a, U and b; each map's in one matmul over all levels."""
        da = torch.zeros_like(self.a).index_add_(0, self.forest.input_of, self.dz)
        dU, db = torch.zeros_like(self.U), torch.zeros_like(self.b)
        everything = torch.arange(self.hk.whole.shape[0], device=self.h.device)
        groups = [(0, everything)] if self.relations is None else _by_relation(self.relations)
        for relation, edges in groups:
            dU[relation] = torch.mm(self.hk.whole[edges].t(), self.dm[edges])
            db[relation] = self.dm[edges].sum(0)
        return da, dU, db


def _by_relation(relations: Tensor) -> list[tuple[int, Tensor]]:
    """Each relation that occurs, and the edges that have it."""
    order = relations.argsort(stable=True)
    found, counts = relations[order].unique_consecutive(return_counts=True)
    return list(zip(found.tolist(), order.split(counts.tolist()), strict=True))
