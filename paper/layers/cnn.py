"""A convolutional network over the words of a sentence (Kim, 2014)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from bough.nn import register
from paper.layers.sequence import SequenceEncoder

WINDOWS = (3, 4, 5)


@register
class CNN(SequenceEncoder):
    """Convolutional network: filters over windows of 3, 4 and 5 words, and the largest response of each filter.

        c_i = ReLU(w · x_{i:i+m-1} + b), z = max_i c_i for each filter

    A sentence is padded with m - 1 zeros on both sides. With two channels a row of x holds two vectors of the word.
    Every filter reads both, and the results are averaged; the second vector gets no gradient, so it stays fixed.

    Args:
        input_size: X, the width of both channels together.
        hidden_size: the number of filters per window size.
        channels: 1 or 2.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of chains with N nodes -> (trees, 3 * hidden_size).

    Examples:
        >>> import torch, bough, paper.layers
        >>> sentence = bough.Tree(parents=[1, 2, -1])  # a chain: the last word is the root
        >>> forest = bough.Forest([sentence])
        >>> paper.layers.CNN(300, 100)(torch.randn(3, 300), forest).shape
        torch.Size([1, 300])
    """

    name = "cnn"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        channels: int = 1,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if channels not in (1, 2) or input_size % channels:
            raise ValueError(f"channels={channels}: 1, or 2 with a row of two vectors; it has {input_size}")
        super().__init__(input_size, len(WINDOWS) * hidden_size, device=device, dtype=dtype)
        self.hidden_size, self.channels = hidden_size, channels
        x = input_size // channels
        for m in WINDOWS:
            self.weight(f"w_{m}", hidden_size, x, m, fan_in=x * m)
            self.weight(f"b_{m}", hidden_size, fan_in=x * m)
        self.reset_parameters()

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}, channels={self.channels}"

    def sequences(self, x: Tensor) -> Tensor:
        if self.channels == 2:
            tuned, fixed = x.chunk(2, dim=2)
            x = (tuned + fixed.detach()) / 2  # the mean of w · u and w · v is w · (u + v) / 2
        taps = [self.get_parameter(f"w_{m}").permute(2, 0, 1).flatten(0, 1) for m in WINDOWS]  # (m D, X) each
        y = functional.linear(x, torch.cat(taps)).unflatten(2, (-1, self.hidden_size))  # (B, n, 12, D)
        found = []
        for m, at in zip(WINDOWS, y.split(WINDOWS, dim=2), strict=True):
            # tap k of a filter that starts at word i reads word i + k; together they are one matmul, then sums
            read = [functional.pad(at[:, :, k], (0, 0, m - 1 - k, k)) for k in range(m)]  # (B, n + m - 1, D)
            c = sum(read[1:], read[0])
            found.append(c.amax(dim=1) + self.get_parameter(f"b_{m}"))
        return torch.relu(torch.cat(found, dim=1))  # ReLU, the bias and max commute
