"""The dynamic convolutional network (Kalchbrenner, Grefenstette and Blunsom, 2014)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.nn import register
from paper.layers.sequence import SequenceEncoder


@register
class DCNN(SequenceEncoder):
    """Dynamic convolutional network: two wide convolutions row by row, each folded, pooled and squashed.

        C_j[r] = Σ_k m_jk[r] * F_k[r] for map j and row r, at all positions where word and filter overlap
        folding adds rows 2i and 2i + 1; pooling keeps the k largest of a row in their order, then tanh(· + b)
        k is max(top, ⌈n / 2⌉ for n words) in the first layer, and top in the second

    Args:
        input_size: X, the number of rows of a sentence matrix.
        maps: feature maps of the first layer.
        second_maps: feature maps of the second layer.
        window: words under a filter of the first layer.
        second_window: words under a filter of the second layer.
        top: values per row that remain at the end.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of chains with N nodes -> (trees, second_maps * ⌈⌈X / 2⌉ / 2⌉ * top).

    Examples:
        >>> import torch, bough, paper.layers
        >>> sentence = bough.Tree(parents=[1, 2, -1])  # a chain: the last word is the root
        >>> forest = bough.Forest([sentence])
        >>> paper.layers.DCNN(48)(torch.randn(3, 48), forest).shape
        torch.Size([1, 720])
    """

    name = "dcnn"
    m_1: nn.Parameter
    b_1: nn.Parameter
    m_2: nn.Parameter
    b_2: nn.Parameter

    def __init__(
        self,
        input_size: int,
        *,
        maps: int = 6,
        second_maps: int = 12,
        window: int = 10,
        second_window: int = 7,
        top: int = 5,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if min(maps, second_maps, window, second_window, top) < 1:
            raise ValueError(
                f"maps={maps}, {second_maps}, windows={window}, {second_window}, top={top}: at least 1 each"
            )
        half = math.ceil(input_size / 2)
        quarter = math.ceil(half / 2)
        super().__init__(input_size, second_maps * quarter * top, device=device, dtype=dtype)
        self.maps, self.second_maps, self.window, self.second_window, self.top = (
            maps,
            second_maps,
            window,
            second_window,
            top,
        )
        self.weight("m_1", input_size, maps, 1, window, fan_in=window)
        self.weight("b_1", half, maps, fan_in=window)
        self.weight("m_2", half, second_maps, maps, second_window, fan_in=maps * second_window)
        self.weight("b_2", quarter, second_maps, fan_in=maps * second_window)
        self.reset_parameters()

    def extra_repr(self) -> str:
        shape = f"{self.input_size}, maps={self.maps}, second_maps={self.second_maps}, window={self.window}"
        return f"{shape}, second_window={self.second_window}, top={self.top}"

    def sequences(self, x: Tensor) -> Tensor:
        f = x.transpose(1, 2).unsqueeze(2)  # (B, X, 1, n)
        k = max(self.top, math.ceil(x.shape[1] / 2))
        f = torch.tanh(_largest(_convolved(f, self.m_1), k) + self.b_1.unsqueeze(2))
        f = torch.tanh(_largest(_convolved(f, self.m_2), self.top) + self.b_2.unsqueeze(2))
        return f.flatten(1)


def _convolved(f: Tensor, m: Tensor) -> Tensor:
    """(B, rows, maps, n), filters (rows, maps', maps, w) -> (B, ⌈rows / 2⌉, maps', n + w - 1), folded.

    A row is convolved by itself; those of rows 2i and 2i + 1 are added, which one product of matrices does with the
    pair's words under the filters side by side.
    """
    if len(m) % 2:
        f, m = functional.pad(f, (0, 0, 0, 0, 0, 1)), functional.pad(m, (0, 0, 0, 0, 0, 0, 0, 1))
    rows, out, maps, width = m.shape
    filters = m.unflatten(0, (rows // 2, 2)).transpose(1, 2).reshape(rows // 2, out, 2 * maps * width)
    seen = functional.pad(f, (width - 1, width - 1)).unfold(3, width, 1)  # (B, rows, maps, n + w - 1, w)
    under = seen.unflatten(1, (rows // 2, 2)).permute(1, 2, 3, 5, 0, 4)  # (pairs, 2, maps, w, B, n + w - 1)
    found: Tensor = filters @ under.reshape(rows // 2, 2 * maps * width, -1)
    return found.view(rows // 2, out, len(f), -1).permute(2, 0, 1, 3)


def _largest(f: Tensor, k: int) -> Tensor:
    """(..., n) -> (..., k) the k largest in their order; zeros behind them where there are fewer."""
    if f.shape[-1] < k:
        return functional.pad(f, (0, k - f.shape[-1]))
    return f.gather(-1, f.topk(k, dim=-1).indices.sort(dim=-1).values)
