"""The parser's network: a deep bidirectional LSTM, a score per span and head; its int8 tensors."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from bough.files import Int8Rows, quantised
from bough.nn.kernels.parser import lstm_forward
from bough.text.builtin.lexicon import SHAPES

PAIRS = 64  # rows of `paired` at a time


@dataclass(frozen=True)
class Size:
    """The widths of the parts of the network."""

    word: int = 128
    hidden: int = 224
    layers: int = 3
    span: int = 128
    arc: int = 192
    relation: int = 64

    def __post_init__(self) -> None:
        if min(asdict(self).values()) < 1:
            raise ValueError(f"{self}: every size is at least 1")


class Biaffine(nn.Module):
    """Scores of pairs: s_k(a, b) = [a; 1] U_k [b; 1].

    Shape: a (B, N, d), b (B, M, d) -> (B, N, M), the first output's.
    """

    def __init__(self, width: int, outputs: int = 1) -> None:
        super().__init__()
        self.U = nn.Parameter(torch.empty(outputs, width + 1, width + 1))
        nn.init.normal_(self.U, std=0.3 / width)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        a, b = F.pad(a, (0, 1), value=1.0), F.pad(b, (0, 1), value=1.0)
        return (a @ self.U[0]) @ b.transpose(1, 2)

    def paired(self, a: Tensor, b: Tensor) -> Tensor:
        """Score row by row, (T, d) and (T, d) -> (T, k)."""
        a, b = F.pad(a, (0, 1), value=1.0), F.pad(b, (0, 1), value=1.0)
        U = self.U.flatten(1).T  # (m * m, k)
        # s_k is the inner product of U_k and the outer product of a and b; a few rows at a time stay in the cache
        parts = zip(a.split(PAIRS), b.split(PAIRS), strict=True)
        return torch.cat([(left[:, :, None] * right[:, None, :]).flatten(1) @ U for left, right in parts])


class SharedDropout(nn.Module):
    """Dropout with one mask for all words of a sentence, which are along dimension `words`."""

    def __init__(self, p: float, words: int) -> None:
        super().__init__()
        self.p = p
        self.words = words

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        shape = [1 if dim == self.words else size for dim, size in enumerate(x.shape)]
        return x * x.new_empty(shape).bernoulli_(1 - self.p).div_(1 - self.p)


class Projection(nn.Sequential):
    """An affine map, a leaky rectifier and dropout: one role a word can play in a pair."""

    def __init__(self, inputs: int, outputs: int, dropout: float) -> None:
        super().__init__(nn.Linear(inputs, outputs), nn.LeakyReLU(0.1), SharedDropout(dropout, words=1))


class Network(nn.Module):
    """Network that scores the spans and heads of sentences from their input vectors.

    The vectors include those of `BEGIN` and `END`. In training, `recurrent_dropout` drops entries of
    the recurrent matrices, with a new mask for each batch, and the LSTM is computed in `dtype`.
    """

    def __init__(
        self,
        size: Size,
        relations: int,
        dropout: float = 0.33,
        recurrent_dropout: float = 0.0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.size, self.recurrent_dropout, self.dtype = size, recurrent_dropout, dtype
        wide = 2 * size.hidden
        self.shapes = nn.Embedding(SHAPES, size.word)
        widths = [size.word] + [wide] * (size.layers - 1)
        self.layers = nn.ModuleList(nn.LSTM(width, size.hidden, bidirectional=True) for width in widths)
        self.dropout = SharedDropout(dropout, words=0)
        self.span_start = Projection(wide, size.span, dropout)
        self.span_end = Projection(wide, size.span, dropout)
        self.span = Biaffine(size.span)
        self.arc_word = Projection(wide, size.arc, dropout)
        self.arc_head = Projection(wide, size.arc, dropout)
        self.arc = Biaffine(size.arc)
        self.relation_word = Projection(wide, size.relation, dropout)
        self.relation_head = Projection(wide, size.relation, dropout)
        self.relation = Biaffine(size.relation, relations)

    def encode(self, x: Tensor) -> Tensor:
        """Encode sentences of one length: (B, T, word) -> (B, T, 2 hidden)."""
        states = x.transpose(0, 1)
        dropout = self.recurrent_dropout if self.training else 0.0
        for layer in self.layers:
            assert isinstance(layer, nn.LSTM)
            weights = []
            for name, weight in layer.named_parameters():
                weights.append(F.dropout(weight, dropout if "weight_hh" in name else 0.0).to(self.dtype))
            start = states.new_zeros(2, states.shape[1], layer.hidden_size, dtype=self.dtype)
            inputs = states.to(self.dtype)
            # not a module: the weights are copies after dropout, in another dtype
            h = torch.lstm(inputs, (start, start), weights, True, 1, 0.0, True, True, False)[0]
            states = self.dropout(h.to(states.dtype))
        return states.transpose(0, 1)

    def encode_distinct(self, x: Tensor, which: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences that differ in length, for parsing: `lengths` descending, marks counted.

        Shape: x (M, word), each input once; which (B, T), the row of x for each position -> (B, T, 2 hidden).
        """
        rows = pack_padded_sequence(which.transpose(0, 1), lengths)
        states = PackedSequence(x, rows.batch_sizes)
        input_of: Tensor | None = rows.data  # row n of the first layer's input is x[input_of[n]]
        for layer in self.layers:
            assert isinstance(layer, nn.LSTM)
            computed = lstm_forward(layer, states.data, states.batch_sizes, input_of)
            if computed is not None:
                states = states._replace(data=computed)
            else:
                states = layer(states if input_of is None else states._replace(data=x[input_of]))[0]
            input_of = None
        return pad_packed_sequence(states)[0].transpose(0, 1)

    def span_scores(self, states: Tensor) -> Tensor:
        """Score every span: (B, N + 2, 2 hidden) -> (B, N + 1, N + 1) by start and width."""
        posts = between_words(states)
        table = self.span(self.span_start(posts), self.span_end(posts))  # by start and end
        return by_width(table)

    def arc_scores(self, states: Tensor) -> Tensor:
        """Score every head: (B, N + 2, 2 hidden) -> (B, N, N + 1), column 0 the root."""
        scores: Tensor = self.arc(self.arc_word(states[:, 1:-1]), self.arc_head(states[:, :-1]))
        return scores

    def relation_scores(self, states: Tensor, batch: Tensor, word: Tensor, head: Tensor) -> Tensor:
        """Return (words, relations) scores; words are counted from 1, and head 0 is the root."""
        words, heads = self.relation_word(states), self.relation_head(states)
        return self.relation.paired(words[batch, word], heads[batch, head])


def between_words(states: Tensor) -> Tensor:
    """Return the vectors of the gaps between words, (B, N + 2, 2 hidden) -> (B, N + 1, 2 hidden).

    The forward half is the state of the word to the left of a gap, the backward half that of the
    word to its right.
    """
    forward, backward = states.chunk(2, dim=2)
    return torch.cat([forward[:, :-1], backward[:, 1:]], dim=2)


def by_width(table: Tensor) -> Tensor:
    """Turn (B, M, M) by start and end into (B, M, M) by start and width, 0 outside."""
    size = table.shape[1]
    padded = torch.cat([table, table.new_zeros(table.shape[0], size, size)], dim=2)
    strides = padded.stride()
    return padded.as_strided((table.shape[0], size, size), (strides[0], strides[1] + 1, strides[2]))


def pack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors as a parser's folder has them: a matrix is `NAME.codes` and `NAME.scales`."""
    packed: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim < 2:
            packed[name] = tensor.detach().clone().contiguous()
        else:
            rows = quantised(tensor)
            packed |= {f"{name}.codes": rows.codes.contiguous(), f"{name}.scales": rows.scales.contiguous()}
    return packed


def unpack(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Int8Rows], dict[str, Tensor]]:
    """Return the matrices, in int8, and the other tensors of a parser by their own names."""
    matrices = {
        name.removesuffix(".codes"): Int8Rows(codes, tensors[name.removesuffix("codes") + "scales"])
        for name, codes in tensors.items()
        if name.endswith(".codes")
    }
    rest = {name: tensor for name, tensor in tensors.items() if not name.endswith((".codes", ".scales"))}
    return matrices, rest
