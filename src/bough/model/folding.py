"""The input map folded into the word table, the table turned to its principal axes, cut and quantised."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bough.model.int8 import quantised
from bough.model.model import Model
from bough.model.shipped import ShippedModel
from bough.nn import TreeLayer

COLUMNS = 240


def fold(model: Model, words: Sequence[str], vectors: Tensor, columns: int = COLUMNS) -> ShippedModel:
    """A shipped model over `words`, whose word vectors (words + 1, X), the unknown word's first, are folded in.

    What the equations see of a word is a = W x + b: the affine leaf's c and o, or the input of every gate.
    These rows take x's place. They are stored as coordinates on their `columns` leading principal axes, an
    int8 each with a scale per row, so that x itself is nowhere in the model; the axes and the mean row stand
    where W and b were.
    """
    encoder = model.encoder
    if not isinstance(encoder, TreeLayer):
        raise ValueError(
            f"encoder {model.config.encoder!r}: a tree layer ships, 'constituency' or 'dependency'"
        )
    with torch.no_grad():
        rows = encoder.input_map(vectors)  # (words + 1, G*D)
        mean, axes = principal_axes(rows, columns)
        coordinates = (rows - mean) @ axes
        widths = coordinates.std(dim=0)  # a step of int8 is then as fine on a narrow axis as on a wide one
        table = quantised(coordinates / widths)
        config = model.config.with_settings({"dimension": axes.shape[1]})
        weights = {**encoder.state_dict(), **encoder.with_input_map(axes * widths, mean)}
    shipped = ShippedModel(config, words, model.relations, table.codes, table.scales, model.purpose)
    shipped.encoder.load_state_dict(weights)
    shipped.head = model.head
    return shipped.eval()


def principal_axes(rows: Tensor, columns: int) -> tuple[Tensor, Tensor]:
    """rows (n, A) -> their mean (A,) and orthonormal axes (A, columns), the widest first."""
    mean = rows.mean(dim=0)
    centred = (rows - mean).double()
    _, vectors = torch.linalg.eigh(centred.T @ centred)  # ascending
    return mean, vectors.flip(1)[:, : min(columns, rows.shape[1])].float()
