"""Compress a model: fold the input map into the word table, rotate it to principal axes, truncate and quantise."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bough.files import quantised
from bough.models.bundled import BundledModel
from bough.models.model import Model
from bough.nn import MeanVectors, TreeLayer

COLUMNS = 240


def compress(model: Model, words: Sequence[str], vectors: Tensor, columns: int = COLUMNS) -> BundledModel:
    """Return a small model over `words` that has their vectors (words + 1, X), the unknown word's first, folded in.

    What the equations of a tree layer see of a word is a = W x + b: the affine leaf's c and o, or the input of every
    gate. These rows take the place of x. They are stored as coordinates on their `columns` leading principal axes, an
    int8 each with a scale per row, so that x itself is nowhere in the model; the axes and the mean row stand where W
    and b were. The mean of words has no such map: its rows are stored as they are, an int8 each.
    """
    layer = model.layer
    with torch.no_grad():
        if isinstance(layer, MeanVectors):
            coordinates, weights = vectors, dict[str, Tensor]()
        elif isinstance(layer, TreeLayer):
            rows = layer.input_map(vectors)  # (words + 1, G*D)
            b = rows.mean(dim=0)
            axes = leading_axes(rows - b, columns)
            coordinates = (rows - b) @ axes
            # a step of int8 is then as fine on a narrow axis as on a wide one
            widths = coordinates.std(dim=0)
            coordinates = coordinates / widths
            weights = {**layer.state_dict(), **layer.with_input_map(axes * widths, b)}
        else:
            raise ValueError(
                f"layer {model.config.layer!r}: a tree layer can be exported, 'constituency' or 'dependency', or 'mean'"
            )
        table = quantised(coordinates)
    config = model.config.with_settings({"embedding_size": coordinates.shape[1]})
    small = BundledModel(config, model.output_spec, words, model.relations, table.codes, table.scales)
    small.layer.load_state_dict(weights)
    small.head = model.head
    return small.eval()


def leading_axes(rows: Tensor, columns: int) -> Tensor:
    """Return (A, columns) orthonormal axes through the origin of rows (n, A), the widest first."""
    wide = rows.double()
    _, vectors = torch.linalg.eigh(wide.T @ wide)  # ascending
    axes: Tensor = vectors.flip(1)[:, : min(columns, rows.shape[1])].float()
    return axes
