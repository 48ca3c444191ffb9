"""One sweep of the Child-Sum Tree-LSTM: Eqs. 2-8 level by level, and their derivative."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bough.nn.engine import Grads, Rows, grouped, recorded, sigmoid_backward, sweep, tanh_backward
from bough.nn.kernels import compiled
from bough.trees.forest import Forest


def sweep_child_sum(
    a: Tensor, U: Tensor, U_f: Tensor, forest: Forest, *, output_gate: bool, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """h, c (U, D) of the forest's units, differentiable in a, U and U_f; `ChildSumCell` says what they hold."""
    if compiled.takes(a, U, U_f, mask):
        return compiled.sweep(a, U, U_f, forest, None, output_gate, mask)
    h, c = sweep(ChildSumCell(a, U, U_f, forest, output_gate=output_gate, mask=mask), forest, a, U, U_f)
    return h, c


class ChildSumCell:
    """Rows of `g` are units, in column blocks u, i, (o,) and f_x, the input's part of the forget gates; rows of
    `f` are edges, sorted by parent.

    `a` (M, G*D) is the input's part and every bias, in the same column blocks, one row per distinct input.
    `mask` (U, D) is recurrent dropout's, a factor for each entry of u.
    """

    def __init__(
        self, a: Tensor, U: Tensor, U_f: Tensor, forest: Forest, *, output_gate: bool, mask: Tensor | None
    ) -> None:
        self.keep = recorded(a, U, U_f)
        self.forest, self.output_gate, self.mask = forest, output_gate, mask
        self.a, self.U, self.U_f = a.detach(), U.detach(), U_f.detach()
        self.d = U.shape[0]
        self.h, self.c = (a.new_empty(forest.units, self.d) for _ in "hc")
        with torch.inference_mode():
            self._lay_out()

    def _lay_out(self) -> None:
        """Buffers, and the views of them that one level needs: gate u, i, ... of level l is `self.u[l]`."""
        a, d, keep, forest = self.a, self.d, self.keep, self.forest
        units, edges = self.units, self.edges = forest.level_sizes, forest.edge_sizes
        self.children, self.parents = forest.children.split(edges), forest.edge_rows.split(edges)
        self.h_of, self.c_of = self.h.split(units), self.c.split(units)
        self.h_sum = Rows(a, units, d, keep)  # h~
        self.hk, self.ck, self.f = (Rows(a, edges, d, keep) for _ in range(3))
        self.g = Rows(a, units, a.shape[1], keep)
        self.h_sum_of, self.hk_of, self.ck_of = self.h_sum.levels(), self.hk.levels(), self.ck.levels()
        self.f_of, self.g_of, self.f_x = self.f.levels(), self.g.levels(), self.g.levels(-d)
        self.summed, self.u, self.squashed = self.g.levels(0, -d), self.g.levels(0, d), self.g.levels(d, -d)
        self.i, self.o = self.g.levels(d, 2 * d), self.g.levels(2 * d, -d)
        self.t = Rows(
            a, units if self.output_gate else [], d, keep
        )  # tanh(c); without an output gate, h itself
        self.t_of = self.t.levels() if self.output_gate else self.h_of
        self.mask_of = self.mask.split(units) if self.mask is not None else None
        self.input_of = forest.input_of.split(units)
        if keep:  # all levels in one call; else level by level, in `up`
            torch.index_select(a, 0, forest.input_of, out=self.g.whole)
            torch.index_select(self.g.whole[:, -d:], 0, forest.edge_parents, out=self.f.whole)
            self.h_sum.whole.zero_()

    def up(self, l: int) -> None:
        h, c, t, g, u = self.h_of[l], self.c_of[l], self.t_of[l], self.g_of[l], self.u[l]
        if not self.keep:
            torch.index_select(self.a, 0, self.input_of[l], out=g)
        if l > 0:
            hk, ck, f, h_sum = self.hk_of[l], self.ck_of[l], self.f_of[l], self.h_sum_of[l]
            if not self.keep:
                torch.index_select(self.f_x[l], 0, self.parents[l], out=f)
                h_sum.zero_()
            torch.index_select(self.h, 0, self.children[l], out=hk)
            torch.index_select(self.c, 0, self.children[l], out=ck)
            h_sum.index_add_(0, self.parents[l], hk)
            self.summed[l].addmm_(h_sum, self.U)  # (n, D) @ (D, (G - 1) * D)
            f.addmm_(hk, self.U_f).sigmoid_()
        u.tanh_()
        self.squashed[l].sigmoid_()
        if self.mask_of is not None:
            u.mul_(self.mask_of[l])
        torch.mul(self.i[l], u, out=c)
        if l > 0:
            c.index_add_(0, self.parents[l], f * ck)
        torch.tanh(c, out=t)
        if self.output_gate:
            torch.mul(self.o[l], t, out=h)

    def states(self) -> tuple[Tensor, Tensor]:
        return self.h[:], self.c[:]

    def turn(self, grads: Sequence[Tensor | None]) -> None:
        """Start the way down from the gradients of h and c."""
        d = self.d
        self.dh, self.dc = (
            torch.zeros_like(buffer) if grad is None else grad.clone()
            for buffer, grad in zip((self.h, self.c), grads, strict=True)
        )
        self.dg, self.df = torch.empty_like(self.g.whole), torch.empty_like(self.f.whole)
        self.p = torch.empty_like(self.h)  # dh/dc
        self.U_t, self.U_f_t = self.U.t().contiguous(), self.U_f.t().contiguous()
        with torch.inference_mode():
            self.dh_of, self.dc_of = self.dh.split(self.units), self.dc.split(self.units)
            self.dc_wide = self.dc.unsqueeze(1).split(self.units)
            self.df_of, self.dg_of = self.df.split(self.edges), self.dg[:, :-d].split(self.units)
            self.dg_c = self.dg[:, : 2 * d].view(-1, 2, d).split(self.units)
            self.dg_o, self.p_of = self.dg[:, 2 * d : -d].split(self.units), self.p.split(self.units)
            self.groups = grouped(self.forest.slices)
            sigmoid_backward(self.ck.whole, self.f.whole, grad_input=self.df)  # dc/df, through the sigmoid

    def down(self, l: int) -> None:
        if l in self.groups:
            self._slopes(*self.groups[l])
        dh, dc, dg = self.dh_of[l], self.dc_of[l], self.dg_of[l]
        dc.addcmul_(dh, self.p_of[l])
        self.dg_c[l].mul_(self.dc_wide[l])
        if self.output_gate:
            self.dg_o[l].mul_(dh)
        if l > 0:
            parents, children, df = self.parents[l], self.children[l], self.df_of[l]
            dc_edge = dc.index_select(0, parents)
            df.mul_(dc_edge)
            dh_k = torch.mm(dg, self.U_t).index_select(0, parents).addmm_(df, self.U_f_t)
            self.dh.index_add_(0, children, dh_k)
            self.dc.index_add_(0, children, dc_edge.mul_(self.f_of[l]))

    def _slopes(self, start: int, end: int) -> None:
        """What of the derivative does not wait for a gradient from above, for many levels in a few calls.

        Afterwards `dg` holds dc/du, dc/di and dh/do, each through its squashing, and `p` dh/dc.
        """
        d = self.d
        whole = self.t.whole if self.output_gate else self.h
        g, dg, t, p = (rows[start:end] for rows in (self.g.whole, self.dg, whole, self.p))
        u, i = g[:, :d], g[:, d : 2 * d]
        if self.mask is None:
            tanh_backward(i, u, grad_input=dg[:, :d])
        else:  # u is mask * tanh(z), so du/dz = mask - u^2 / mask, and 0 where the mask is
            mask = self.mask[start:end]
            torch.sub(
                mask, u.square().div_(mask.clamp_min(torch.finfo(mask.dtype).tiny)), out=dg[:, :d]
            ).mul_(i)
        sigmoid_backward(u, i, grad_input=dg[:, d : 2 * d])
        if self.output_gate:
            sigmoid_backward(t, g[:, 2 * d : -d], grad_input=dg[:, 2 * d : -d])
            tanh_backward(g[:, 2 * d : -d], t, grad_input=p)
        else:
            torch.sub(1, t.square(), out=p)

    def gradients(self) -> Grads:
        """Of a, U and U_f; the weights' in one matmul each over all levels."""
        leaves, d = self.forest.leaves, self.d
        self.dg[:, -d:].zero_().index_add_(0, self.forest.edge_parents, self.df)
        dU = torch.mm(self.h_sum.whole[leaves:].t(), self.dg[leaves:, :-d])
        dU_f = torch.mm(self.hk.whole.t(), self.df)
        if self.forest.own_inputs:
            return self.dg, dU, dU_f
        return torch.zeros_like(self.a).index_add_(0, self.forest.input_of, self.dg), dU, dU_f
