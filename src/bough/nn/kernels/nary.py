"""One sweep of the N-ary Tree-LSTM: Eqs. 9-14 level by level, and their derivative."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bough.nn.engine import Grads, Rows, grouped, recorded, sigmoid_backward, sweep, tanh_backward
from bough.nn.kernels import compiled
from bough.trees.forest import Forest


def sweep_nary(
    a: Tensor,
    U: Tensor,
    b: Tensor | None,
    forest: Forest,
    arity: int,
    *,
    output_gate: bool,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """h, c (U, D) of the forest's units, differentiable in a, U and b; `NaryCell` says what they hold."""
    if compiled.takes(a, U, b, mask):
        return compiled.sweep(a, U, b, forest, arity, output_gate, mask)
    h, c = sweep(NaryCell(a, U, b, forest, arity, output_gate=output_gate, mask=mask), forest, a, U, b)
    return h, c


class NaryCell:
    """Gates stand in column blocks u, i, f_1 .. f_N, o of `g`; `a` is the input's part (see `compose`).

    With `b` the leaf is affine and `g` has a row for each inner unit; without, every unit has a row, its
    biases within `a`. `mask` is recurrent dropout's, a factor for each entry of u, a row for each of `g`.
    """

    def __init__(
        self,
        a: Tensor,
        U: Tensor,
        b: Tensor | None,
        forest: Forest,
        arity: int,
        *,
        output_gate: bool,
        mask: Tensor | None,
    ) -> None:
        self.keep = recorded(a, U, b)
        self.forest, self.arity, self.output_gate, self.mask = forest, arity, output_gate, mask
        self.a, self.U, self.b = a.detach(), U.detach(), None if b is None else b.detach()
        d = self.d = U.shape[0] // arity
        self.h, self.c = (a.new_empty(forest.units + 1, d) for _ in "hc")
        self.h[-1], self.c[-1] = 0, 0  # the missing child
        with torch.inference_mode():
            self._lay_out()

    def _lay_out(self) -> None:
        """Buffers, and the views of them that one level needs: gate u, i, ... of level l is `self.u[l]`."""
        a, n, d, keep = self.a, self.arity, self.d, self.keep
        sizes, inner = self.forest.level_sizes, [0, *self.forest.level_sizes[1:]]
        self.sizes, self.gated = sizes, sizes if self.b is None else inner  # which levels have rows of gates
        self.children = self.forest.slots(n).reshape(-1).split([size * n for size in inner])
        self.h_of, self.c_of = self.h[:-1].split(sizes), self.c[:-1].split(sizes)
        self.hs, self.cs = (Rows(a, inner, n * d, keep) for _ in "hc")
        self.hs_of, self.cs_of = self.hs.levels(), self.cs.levels()
        self.c_k = [self.cs.levels(k * d, (k + 1) * d) for k in range(n)]
        self.g = Rows(a, self.gated, self.U.shape[1], keep)
        self.g_of, self.u, self.squashed = self.g.levels(), self.g.levels(0, d), self.g.levels(d)
        self.i, self.o = self.g.levels(d, 2 * d), self.g.levels((2 + n) * d)
        self.f = [self.g.levels((2 + k) * d, (3 + k) * d) for k in range(n)]
        self.t = Rows(
            a, sizes if self.output_gate else [], d, keep
        )  # tanh(c); without an output gate, h itself
        self.t_of = self.t.levels() if self.output_gate else self.h_of
        self.mask_of = self.mask.split(self.gated) if self.mask is not None else None
        self.input_of = self.forest.input_of.split(sizes) if self.b is None else None

    def up(self, l: int) -> None:
        h, c, t = self.h_of[l], self.c_of[l], self.t_of[l]
        if l == 0 and self.b is not None:
            self._affine_leaf(h, c, t)
            return
        g, u = self.g_of[l], self.u[l]
        if self.input_of is not None:
            torch.index_select(self.a, 0, self.input_of[l], out=g)
        if l > 0:
            torch.index_select(self.h, 0, self.children[l], out=self.hs_of[l].view(-1, self.d))
            torch.index_select(self.c, 0, self.children[l], out=self.cs_of[l].view(-1, self.d))
            torch.addmm(
                g if self.b is None else self.b, self.hs_of[l], self.U, out=g
            )  # (n, N*D) @ (N*D, G*D)
        u.tanh_()
        self.squashed[l].sigmoid_()
        if self.mask_of is not None:
            u.mul_(self.mask_of[l])
        torch.mul(self.i[l], u, out=c)
        if l > 0:
            for f, c_k in zip(self.f, self.c_k, strict=True):
                c.addcmul_(f[l], c_k[l])
        torch.tanh(c, out=t)
        if self.output_gate:
            torch.mul(self.o[l], t, out=h)

    def _affine_leaf(self, h: Tensor, c: Tensor, t: Tensor) -> None:
        # NOTE(paper): a leaf is not Eqs. 9-14 without children; the released program maps x straight to c.
        d = self.d
        c.copy_(self.a[:, :d])
        torch.tanh(c, out=t)
        if self.output_gate:
            self.leaf_o = torch.sigmoid(self.a[:, d:])
            torch.mul(self.leaf_o, t, out=h)

    def states(self) -> tuple[Tensor, Tensor]:
        return self.h[:-1], self.c[:-1]

    def turn(self, grads: Sequence[Tensor | None]) -> None:
        """Start the way down from the gradients of h and c."""
        self.dh, self.dc = (torch.empty_like(self.h) for _ in "hc")
        for buffer, grad in zip((self.dh, self.dc), grads, strict=True):
            if grad is None:
                buffer.zero_()
            else:
                buffer[:-1] = grad
        self.dg = torch.empty_like(self.g.whole)
        self.p = torch.empty_like(self.h[:-1])  # dh/dc
        self.U_t = self.U.t().contiguous()  # a level's matmul is quicker so, by more than the copy costs
        with torch.inference_mode():
            n, d = self.arity, self.d
            self.dh_of, self.dc_of = self.dh[:-1].split(self.sizes), self.dc[:-1].split(self.sizes)
            self.dc_wide = self.dc[:-1].unsqueeze(1).split(self.sizes)
            through_c = self.dg[:, : (2 + n) * d].view(-1, 2 + n, d)
            self.dg_of, self.dg_c = self.dg.split(self.gated), through_c.split(self.gated)
            self.dg_o = self.dg[:, (2 + n) * d :].split(self.gated)
            self.f_wide = self.g.whole[:, 2 * d : (2 + n) * d].view(-1, n, d).split(self.gated)
            self.p_of = self.p.split(self.sizes)
            self.groups = grouped(self.forest.slices)

    def down(self, l: int) -> None:
        if l == 0 and self.b is not None:
            return  # `gradients` takes it from here
        if l in self.groups:
            self._slopes(*self.groups[l])
        dh, dc, dg = self.dh_of[l], self.dc_of[l], self.dg_of[l]
        dc.addcmul_(dh, self.p_of[l])
        self.dg_c[l].mul_(self.dc_wide[l])
        if self.output_gate:
            self.dg_o[l].mul_(dh)
        if l > 0:
            self.dh.index_add_(0, self.children[l], torch.mm(dg, self.U_t).view(-1, self.d))
            self.dc.index_add_(
                0, self.children[l], torch.mul(self.f_wide[l], self.dc_wide[l]).view(-1, self.d)
            )

    def _slopes(self, start: int, end: int) -> None:
        """What of the derivative does not wait for a gradient from above, for many levels in a few calls.

        Afterwards `dg` holds dc/du, dc/di, dc/df and dh/do, each through its squashing, and `p` dh/dc.
        """
        d, n, leaves = self.d, self.arity, self.forest.leaves
        shift = leaves if self.b is not None else 0
        rows = slice(start - shift, end - shift)
        t = (self.t.whole if self.output_gate else self.h)[start:end]
        g, dg, p = self.g.whole[rows], self.dg[rows], self.p[start:end]
        u, i = g[:, :d], g[:, d : 2 * d]
        if self.mask is None:
            tanh_backward(i, u, grad_input=dg[:, :d])
        else:  # u is mask * tanh(z), so du/dz = mask - u^2 / mask, and 0 where the mask is
            mask = self.mask[rows]
            torch.sub(
                mask, u.square().div_(mask.clamp_min(torch.finfo(mask.dtype).tiny)), out=dg[:, :d]
            ).mul_(i)
        sigmoid_backward(u, i, grad_input=dg[:, d : 2 * d])
        if start < leaves:
            dg[:, 2 * d : (2 + n) * d] = 0
        else:
            f, c_k = g[:, 2 * d : (2 + n) * d], self.cs.whole[start - leaves : end - leaves]
            sigmoid_backward(c_k, f, grad_input=dg[:, 2 * d : (2 + n) * d])
        if self.output_gate:
            sigmoid_backward(t, g[:, -d:], grad_input=dg[:, -d:])
            tanh_backward(g[:, -d:], t, grad_input=p)
        else:
            torch.sub(1, t.square(), out=p)

    def _affine_leaf_down(self) -> Tensor:
        if not self.sizes:
            return torch.empty_like(self.a)  # an empty forest has no level 0
        d, dh, dc, t = self.d, self.dh_of[0], self.dc_of[0], self.t_of[0]
        da = torch.empty_like(self.a)
        if self.output_gate:
            sigmoid_backward(dh * t, self.leaf_o, grad_input=da[:, d:])
            dh = dh * self.leaf_o
        tanh_backward(dh, t, grad_input=da[:, :d])
        da[:, :d] += dc
        return da

    def gradients(self) -> Grads:
        """Of a, U and b; the weights' in one matmul over all levels."""
        inner = self.dg[self.dg.shape[0] - self.hs.whole.shape[0] :]
        dU = torch.mm(self.hs.whole.t(), inner)
        if self.b is not None:
            return self._affine_leaf_down(), dU, inner.sum(0)
        if self.forest.own_inputs:
            return self.dg, dU, None
        return torch.zeros_like(self.a).index_add_(0, self.forest.input_of, self.dg), dU, None
