"""Compiled code of the parser: a bidirectional LSTM without gradient, and the best bracketing of a sentence."""

import ctypes
from weakref import WeakKeyDictionary

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from bough.nn.engine import recorded
from bough.nn.kernels.buffers import Buffer
from bough.nn.kernels.loader import address, library, structure, takes

CHUNK = 128  # rows whose inputs are mapped at once: few enough to be still in the cache at their step
Ints = NDArray[np.int64]
Weights = tuple[Tensor, Tensor, Tensor]
_Lstm = structure("steps inputs hidden chunk isa distinct sizes input_of x W U b out z c all")
_kept: WeakKeyDictionary[nn.LSTM, tuple[object, Weights]] = WeakKeyDictionary()


def lstm_forward(layer: nn.LSTM, x: Tensor, sizes: Tensor, input_of: Tensor | None = None) -> Tensor | None:
    """Return the states (N, 2 hidden) of one bidirectional layer with initial states 0, or None if C cannot compute it.

    With `input_of`, row n reads `x[input_of[n]]`, so that equal inputs are mapped once.

    Shape: x (N, inputs), or (M, inputs) with `input_of` (N,), sorted by step as in a `PackedSequence`; sizes (T,).
    """
    parameters: list[Tensor] = list(layer.parameters())
    plain = layer.bidirectional and layer.bias and layer.num_layers == 1 and not layer.proj_size
    if not plain or recorded(x, *parameters) or torch.is_autocast_enabled("cpu"):
        return None
    rows = x if input_of is None else input_of
    if not takes(x, *parameters) or x.shape[1] != layer.input_size or len(rows) != int(sizes.sum()):
        return None
    for name, indices, end in (("input_of", input_of, len(x)), ("sizes", sizes, len(rows) + 1)):
        if indices is not None and len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < end:
            raise ValueError(f"{name} has {indices.min()} to {indices.max()}; it must be from 0 to {end - 1}")
    if bool((sizes.diff() > 0).any()):
        raise ValueError(f"sizes {sizes.tolist()[:8]} ... rise; a step has no more rows than the one before")
    x, sizes, lanes = x.contiguous(), sizes.contiguous(), library().isa // 32
    input_of = None if input_of is None else input_of.contiguous()
    W, U, b = _weights(layer, parameters, lanes)
    out = x.new_empty(len(rows), 2 * layer.hidden_size)
    panels = -(-layer.hidden_size // lanes)
    widest, padded = int(sizes[0]) if len(sizes) else 0, panels * lanes
    lengths = (CHUNK + widest) * 4 * padded, widest * padded, 0 if input_of is None else len(x) * 4 * padded
    buffer = Buffer(sum(lengths))
    z = buffer.floats.data_ptr()
    c = z + 4 * lengths[0]
    numbers = (len(sizes), layer.input_size, layer.hidden_size, CHUNK, library().isa, len(x))
    addresses = [
        address("sizes", sizes, (len(sizes),), torch.int64),
        address("input_of", input_of, (len(rows),), torch.int64),
        address("x", x, (len(x), layer.input_size)),
        address("W", W, (2, panels, layer.input_size, 4, lanes)),
        address("U", U, (2, panels, layer.hidden_size, 4, lanes)),
        address("b", b, (2, panels, 1, 4, lanes)),
        address("out", out, (len(rows), 2 * layer.hidden_size)),
    ]
    library().functions.bough_lstm(ctypes.byref(_Lstm(*numbers, *addresses, z, c, c + 4 * lengths[1])))
    return out


def _weights(layer: nn.LSTM, parameters: list[Tensor], lanes: int) -> Weights:
    """Return W, U and b of both directions in the layout of lstm.h, cached until a parameter changes."""
    # parameters made in inference mode have no version that tells of changes
    if any(parameter.is_inference() for parameter in parameters):
        return _in_panels(layer, parameters, lanes)
    state = [lanes, *((parameter.data_ptr(), parameter._version) for parameter in parameters)]
    known, weights = _kept.get(layer, (None, None))
    if weights is None or known != state:
        weights = _in_panels(layer, parameters, lanes)
        _kept[layer] = (state, weights)
    return weights


def _in_panels(layer: nn.LSTM, parameters: list[Tensor], lanes: int) -> Weights:
    gates = 4 * layer.hidden_size
    shapes = [(gates, layer.input_size), (gates, layer.hidden_size), (gates,), (gates,)] * 2
    for (name, parameter), shape in zip(layer.named_parameters(), shapes, strict=True):
        if parameter.shape != shape:
            raise ValueError(f"{name} of the LSTM is {tuple(parameter.shape)}; it must be {shape}")
    with torch.inference_mode(False), torch.no_grad():
        W, U, b_in, b_state = (torch.stack(pair) for pair in zip(parameters[:4], parameters[4:], strict=True))
        return _panels(W, lanes), _panels(U, lanes), _panels((b_in + b_state).unsqueeze(2), lanes)


def _panels(weights: Tensor, lanes: int) -> Tensor:
    """Return panels of `lanes` units, padded with zeros: (2, 4 hidden, k) -> (2, panels, k, 4, lanes)."""
    gates = weights.reshape(2, 4, -1, weights.shape[2])
    padded = F.pad(gates, (0, 0, 0, -gates.shape[2] % lanes))
    return padded.reshape(2, 4, -1, lanes, weights.shape[2]).permute(0, 2, 4, 1, 3).contiguous()


def brackets(scores: Tensor, lengths: Ints) -> list[Ints] | None:
    """Return the parents, in preorder, of each sentence's tree with the highest score, or None if C is not used.

    Shape: scores (B, N + 1, N + 1) of brackets by start and width, lengths (B,), each from 1 to N.
    """
    size = scores.shape[1]
    in_range = len(lengths) and 0 < lengths.min() <= lengths.max() < size
    if not takes(scores) or scores.stride(2) != 1 or not in_range:
        return None
    room = 2 * size
    parents = torch.empty((len(lengths), room), dtype=torch.int64)
    sizes = torch.from_numpy(np.ascontiguousarray(lengths, dtype=np.int64))
    place = address("scores", scores, (len(lengths), size, size), by_row=True)
    numbers = (library().isa, len(lengths), sizes.data_ptr(), place, *scores.stride()[:2])
    if library().functions.bough_brackets(*map(ctypes.c_int64, (*numbers, parents.data_ptr(), room))):
        raise MemoryError(f"no memory for a chart of {lengths.max()} words")
    return [row[: 2 * length - 1] for row, length in zip(parents.numpy(), lengths.tolist(), strict=True)]
