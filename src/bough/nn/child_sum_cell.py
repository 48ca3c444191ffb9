"""One sweep of the Child-Sum Tree-LSTM: Eqs. 2-8 level by level, and their derivative."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bough.forest import Forest
from bough.nn.dropout import kept
from bough.nn.engine import Grads, Rows, grouped, recorded, sigmoid_backward, tanh_backward


class ChildSumCell:
    """Rows of `g` are units, gates in column blocks u, i, o; rows of `f` are edges, sorted by parent.

    `a` (M, G*D) is the input's part and every bias, column blocks u, i, (o,) f, one row a distinct input.
    """

    def __init__(
        self, a: Tensor, U: Tensor, U_f: Tensor, forest: Forest, *, output_gate: bool, drop: float = 0.0
    ) -> None:
        self.keep = recorded(a, U, U_f)
        self.forest, self.output_gate, self.drop = forest, output_gate, drop
        self.a, self.U, self.U_f = a.detach(), U.detach(), U_f.detach()
        self.d = U.shape[0]
        self.h, self.c = (a.new_empty(forest.units, self.d) for _ in "hc")
        with torch.inference_mode():
            self._lay_out()

    def _lay_out(self) -> None:
        """Buffers, and the views of them that one level needs: gate u, i, ... of level l is `self.u[l]`."""
        a, d, keep, forest = self.a, self.d, self.keep, self.forest
        units, edges = self.units, self.edges = forest.level_sizes, forest.edge_sizes
        self.children = forest.children.split(edges)
        self.parents = forest.edge_rows.split(edges)  # counted within their level
        self.h_of, self.c_of = self.h.split(units), self.c.split(units)
        self.h_sum = Rows(a, units, d, keep)  # h~
        self.hk, self.ck, self.f = (Rows(a, edges, d, keep) for _ in range(3))
        self.g = Rows(a, units, self.U.shape[1], keep)
        self.h_sum_of, self.hk_of, self.ck_of = self.h_sum.levels(), self.hk.levels(), self.ck.levels()
        self.f_of, self.g_of = self.f.levels(), self.g.levels()
        self.u, self.squashed = self.g.levels(0, d), self.g.levels(d)
        self.i, self.o = self.g.levels(d, 2 * d), self.g.levels(2 * d)
        self.t = Rows(a, units, d, keep)  # tanh(c)
        self.t_of = self.t.levels()
        self.mask = kept(a, forest.units, d, self.drop) if self.drop else None
        self.mask_of = self.mask.split(units) if self.mask is not None else None
        self.a_g, self.a_f = self.a[:, :-d].contiguous(), self.a[:, -d:].contiguous()
        self.input_of = forest.input_of.split(units)
        self.edge_input = forest.input_of.index_select(
            0, forest.edge_parents
        )  # the parent's x gates its child
        self.edge_input_of = self.edge_input.split(edges)

    def up(self, l: int) -> None:
        h, c, t, g, u = self.h_of[l], self.c_of[l], self.t_of[l], self.g_of[l], self.u[l]
        torch.index_select(self.a_g, 0, self.input_of[l], out=g)
        if l > 0:
            hk, ck, f, h_sum = self.hk_of[l], self.ck_of[l], self.f_of[l], self.h_sum_of[l]
            torch.index_select(self.h, 0, self.children[l], out=hk)
            torch.index_select(self.c, 0, self.children[l], out=ck)
            h_sum.zero_().index_add_(0, self.parents[l], hk)
            g.addmm_(h_sum, self.U)  # (n, D) @ (D, G*D)
            torch.index_select(self.a_f, 0, self.edge_input_of[l], out=f)
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
        else:
            h.copy_(t)

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
        self.p = torch.empty_like(self.t.whole)  # dh/dc
        self.U_t, self.U_f_t = self.U.t().contiguous(), self.U_f.t().contiguous()
        with torch.inference_mode():
            self.dh_of, self.dc_of = self.dh.split(self.units), self.dc.split(self.units)
            self.dc_wide = self.dc.unsqueeze(1).split(self.units)
            self.dg_of, self.df_of = self.dg.split(self.units), self.df.split(self.edges)
            self.dg_c = self.dg[:, : 2 * d].view(-1, 2, d).split(self.units)
            self.dg_o, self.p_of = self.dg[:, 2 * d :].split(self.units), self.p.split(self.units)
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
        g, dg, t, p = (rows[start:end] for rows in (self.g.whole, self.dg, self.t.whole, self.p))
        u, i = g[:, :d], g[:, d : 2 * d]
        if self.mask is None:
            tanh_backward(i, u, grad_input=dg[:, :d])
        else:  # u is mask * tanh(z), so du/dz = mask - u^2 / mask, and 0 where the mask is
            torch.sub(self.mask[start:end], u.square(), alpha=1 - self.drop, out=dg[:, :d]).mul_(i)
        sigmoid_backward(u, i, grad_input=dg[:, d : 2 * d])
        if self.output_gate:
            sigmoid_backward(t, g[:, 2 * d :], grad_input=dg[:, 2 * d :])
            tanh_backward(g[:, 2 * d :], t, grad_input=p)
        else:
            torch.sub(1, t.square(), out=p)

    def gradients(self) -> Grads:
        """Of a, U and U_f; the weights' in one matmul each over all levels."""
        leaves = self.forest.leaves
        da = torch.zeros_like(self.a)
        da[:, : -self.d].index_add_(0, self.forest.input_of, self.dg)
        da[:, -self.d :].index_add_(0, self.edge_input, self.df)
        dU = torch.mm(self.h_sum.whole[leaves:].t(), self.dg[leaves:])
        return da, dU, torch.mm(self.hk.whole.t(), self.df)
