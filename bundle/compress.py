"""The input map folded into the word table, the table turned to its principal axes, cut and quantised."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bough.files import quantised
from bough.models.bundled import ShippedModel
from bough.models.model import Model
from bough.nn import TreeLayer

COLUMNS = 240


def fold(model: Model, words: Sequence[str], vectors: Tensor, columns: int = COLUMNS) -> ShippedModel:
    """A shipped model over `words`, whose word vectors (words + 1, X), the unknown word's first, are folded in.

    What the equations see of a word is a = W x + b: the affine leaf's c and o, or the input of every gate.
    These rows take x's place. They are stored as coordinates on their `columns` leading principal axes, an
    int8 each with a scale per row, so that x itself is nowhere in the model; the axes and the mean row stand
    where W and b were. A model whose pairs have features compares the vectors themselves: of it x is stored so,
    through the origin, with which cosines stay what they are.
    """
    encoder = model.layer
    if not isinstance(encoder, TreeLayer):
        raise ValueError(
            f"encoder {model.config.layer!r}: a tree layer ships, 'constituency' or 'dependency'"
        )
    with torch.no_grad():
        if model.config.pair_features:
            axes = leading_axes(vectors, columns)
            coordinates = vectors @ axes
            b = encoder.input_map(vectors.new_zeros(1, vectors.shape[1]))[0]
            W = (encoder.input_map(axes.T) - b).T  # (G*D, columns)
        else:
            rows = encoder.input_map(vectors)  # (words + 1, G*D)
            b, axes = principal_axes(rows, columns)
            coordinates = (rows - b) @ axes
            widths = coordinates.std(
                dim=0
            )  # a step of int8 is then as fine on a narrow axis as on a wide one
            coordinates, W = coordinates / widths, axes * widths
        table = quantised(coordinates)
        config = model.config.with_settings({"embedding_size": axes.shape[1]})
        weights = {**encoder.state_dict(), **encoder.with_input_map(W, b)}
    shipped = ShippedModel(config, model.purpose, words, model.relations, table.codes, table.scales)
    shipped.layer.load_state_dict(weights)
    shipped.head = model.head
    if model.config.pair_features:
        known = [model.index.get(word) for word in words]
        rarity = [1.0, *(1.0 if row is None else float(model.rarity[row]) for row in known)]
        shipped.rarity = torch.tensor(rarity)
    return shipped.eval()


def principal_axes(rows: Tensor, columns: int) -> tuple[Tensor, Tensor]:
    """rows (n, A) -> their mean (A,) and orthonormal axes (A, columns), the widest first."""
    mean = rows.mean(dim=0)
    return mean, leading_axes(rows - mean, columns)


def leading_axes(rows: Tensor, columns: int) -> Tensor:
    """rows (n, A) -> orthonormal axes (A, columns) through the origin, the widest first."""
    wide = rows.double()
    _, vectors = torch.linalg.eigh(wide.T @ wide)  # ascending
    axes: Tensor = vectors.flip(1)[:, : min(columns, rows.shape[1])].float()
    return axes
