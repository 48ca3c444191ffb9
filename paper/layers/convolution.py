"""Encoders of word sequences: a base class, and the convolutional networks of Table 2."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough import Forest
from bough.nn import BaseLayer, register

WINDOWS = (3, 4, 5)


class SequenceEncoder(BaseLayer):
    """An encoder of word sequences. A subclass computes sentences of equal length in `sequences`.

    Shape:
        x (N, X), a forest of chains with N nodes, words in order -> (trees, width).

    Examples:
        >>> import torch, bough, paper.layers
        >>> class FirstWord(paper.layers.SequenceEncoder):
        ...     def sequences(self, x):  # (B, n, X) -> (B, width)
        ...         return x[:, 0]
        >>> forest = bough.Forest([bough.Tree(parents=[1, 2, -1])])
        >>> FirstWord(300, width=300)(torch.randn(3, 300), forest).shape
        torch.Size([1, 300])
    """

    reads = "words"
    phrases = False

    def sequences(self, x: Tensor) -> Tensor:
        """(B, n, X), B sentences of n words -> (B, width)."""
        raise NotImplementedError

    def node_states(self, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
        return (self.sentences(x, forest),)

    @property
    def shares(self) -> bool:
        return False

    def input_nodes(self, forest: Forest) -> Tensor:
        return torch.arange(forest.num_nodes, device=forest.device)

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        forest.check_chains()
        lengths = forest.ptr.diff()
        starts = lengths.cumsum(0) - lengths
        if not len(lengths):
            return x.sum() * x.new_zeros(0, self.width)  # empty, but differentiable
        order, parts = [], []
        for length in lengths.unique().tolist():
            trees = (lengths == length).nonzero().squeeze(1)
            words = starts[trees].unsqueeze(1) + torch.arange(length, device=x.device)  # (B, n)
            order.append(trees)
            parts.append(self.sequences(x[words.flatten()].unflatten(0, words.shape)))
        return torch.cat(parts).index_select(0, torch.cat(order).argsort())


@register
class CNN(SequenceEncoder):
    """CNN (Kim, 2014): filters over windows of 3, 4 and 5 words, with the maximum of each filter over the sentence.

        c_i = ReLU(w · x_{i:i+m-1} + b), z = max_i c_i for each filter

    A sentence is padded with m - 1 zeros on both sides. With two channels a row of x holds two
    vectors of the word. Every filter reads both, and the results are averaged. The second vector
    gets no gradient, so it stays fixed.

    Args:
        input_size: X, the width of both channels together.
        hidden_size: the number of filters per window size.
        channels: 1 or 2.

    Shape:
        x (N, X), a forest of chains with N nodes -> (trees, 3 * hidden_size).

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[1, 2, -1])])  # a chain: the last word is the root
        >>> paper.layers.CNN(300, 100)(torch.randn(3, 300), forest).shape
        torch.Size([1, 300])
    """

    name = "cnn"

    def __init__(self, input_size: int, hidden_size: int, *, channels: int = 1, **kwargs: Any) -> None:
        if channels not in (1, 2) or input_size % channels:
            raise ValueError(f"channels={channels}: 1, or 2 with a row of two vectors; it has {input_size}")
        super().__init__(input_size, len(WINDOWS) * hidden_size, **kwargs)
        self.hidden_size, self.channels = hidden_size, channels
        x = input_size // channels
        for m in WINDOWS:
            self.weight(f"w_{m}", hidden_size, x, m, fan_in=x * m)
            self.weight(f"b_{m}", hidden_size, fan_in=x * m)
        self.reset_parameters()

    def sequences(self, x: Tensor) -> Tensor:
        if self.channels == 2:
            tuned, fixed = x.chunk(2, dim=2)
            x = (tuned + fixed.detach()) / 2  # the mean of w · u and w · v is w · (u + v) / 2
        taps = [self.get_parameter(f"w_{m}").permute(2, 0, 1).flatten(0, 1) for m in WINDOWS]  # (m D, X) each
        y = functional.linear(x, torch.cat(taps)).unflatten(2, (-1, self.hidden_size))  # (B, n, 12, D)
        found = []
        for m, at in zip(WINDOWS, y.split(WINDOWS, dim=2), strict=True):
            # column k of a filter at word i reads word i + k: y has all products, which are shifted and added here
            read = [functional.pad(at[:, :, k], (0, 0, m - 1 - k, k)) for k in range(m)]  # (B, n + m - 1, D)
            c = sum(read[1:], read[0])
            found.append(c.amax(dim=1) + self.get_parameter(f"b_{m}"))
        return torch.relu(torch.cat(found, dim=1))  # ReLU and the bias commute with max


@register
class DCNN(SequenceEncoder):
    """DCNN (Kalchbrenner et al., 2014): two wide convolutions of each row, with folding, k-max pooling and tanh.

        C_j[r] = Σ_k m_jk[r] * F_k[r] for map j and row r, at all positions where word and filter overlap
        folding adds rows 2i and 2i + 1; pooling keeps the k largest of a row in their order, then
        tanh(· + b) k is max(top, ⌈n / 2⌉ for n words) in the first layer, and top in the second

    Args:
        input_size: X, the number of rows of a sentence matrix.
        maps: feature maps of the first layer.
        second_maps: feature maps of the second layer.
        window: words under a filter of the first layer.
        second_window: words under a filter of the second layer.
        top: values per row that remain at the end.

    Shape:
        x (N, X), a forest of chains with N nodes -> (trees, second_maps * ⌈⌈X / 2⌉ / 2⌉ * top).

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[1, 2, -1])])  # a chain: the last word is the root
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
        **kwargs: Any,
    ) -> None:
        if min(maps, second_maps, window, second_window, top) < 1:
            given = f"maps={maps}, {second_maps}, windows={window}, {second_window}, top={top}"
            raise ValueError(f"{given}: at least 1 each")
        half = math.ceil(input_size / 2)
        quarter = math.ceil(half / 2)
        super().__init__(input_size, second_maps * quarter * top, **kwargs)
        self.top = top
        self.weight("m_1", input_size, maps, 1, window, fan_in=window)
        self.weight("b_1", half, maps, fan_in=window)
        self.weight("m_2", half, second_maps, maps, second_window, fan_in=maps * second_window)
        self.weight("b_2", quarter, second_maps, fan_in=maps * second_window)
        self.reset_parameters()

    def sequences(self, x: Tensor) -> Tensor:
        f = x.transpose(1, 2).unsqueeze(2)  # (B, X, 1, n)
        k = max(self.top, math.ceil(x.shape[1] / 2))
        f = torch.tanh(_largest(_convolved(f, self.m_1), k) + self.b_1.unsqueeze(2))
        f = torch.tanh(_largest(_convolved(f, self.m_2), self.top) + self.b_2.unsqueeze(2))
        return f.flatten(1)


def _convolved(f: Tensor, m: Tensor) -> Tensor:
    """(B, rows, maps, n), filters (rows, maps', maps, w) -> (B, ⌈rows / 2⌉, maps', n + w - 1), folded.

    Each row is convolved alone, and the results of rows 2i and 2i + 1 are added. One matrix product
    does both, on the concatenated windows of the two rows.
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
    """(..., n) -> (..., k): the k largest in their order, followed by zeros if n < k."""
    if f.shape[-1] < k:
        return functional.pad(f, (0, k - f.shape[-1]))
    return f.gather(-1, f.topk(k, dim=-1).indices.sort(dim=-1).values)
