"""What every pipeline does with a model: trees in, states out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough.model.model import UNKNOWN, Model
from bough.model.sentences import collate, prepare_all
from bough.model.shipped import ShippedModel
from bough.nn.threads import one_thread
from bough.trees.forest import Forest
from bough.trees.tree import Tree

Floats = NDArray[np.float32]


def inputs(model: Model, trees: Sequence[Tree]) -> tuple[Forest, Tensor]:
    """The forest of some trees, and the vectors (M, X) of the words its encoder reads."""
    forest, ids = collate(prepare_all(trees, model), model)
    return forest, model.look_up(forest, ids)


def threads(model: Model) -> AbstractContextManager[object]:
    """One thread for a layer, whose steps are small; what torch has for an encoder under it."""
    return one_thread() if model.leaves is None else nullcontext()


@torch.inference_mode()
def sentence_vectors(model: Model, trees: Sequence[Tree]) -> Tensor:
    """(trees, D) the vector of each sentence."""
    if not trees:
        return torch.zeros(0, model.encoder.width)
    with threads(model):
        forest, x = inputs(model, trees)
        vectors = model.sentences(x, forest)
    tidy(model)
    return vectors


def mean_rows(model: Model, sentences: Sequence[Sequence[str]]) -> Floats:
    """(sentences, X) the mean of the table's rows of each sentence's words; the unknown word's without a word.

    With contextual leaves it is the mean of theirs.
    """
    means = np.zeros((len(sentences), model.config.dimension), dtype=np.float32)
    texts = [words or [UNKNOWN] for words in sentences]
    rows = _rows(model, texts).split([len(words) for words in texts])
    for mean, own in zip(means, rows, strict=True):
        mean[:] = own.mean(dim=0).cpu().numpy()
    tidy(model)
    return means


@torch.no_grad()
def _rows(model: Model, texts: Sequence[Sequence[str]]) -> Tensor:
    if model.leaves is not None:
        return model.leaves.words(texts)
    return model.vectors(torch.from_numpy(model.ids(word for words in texts for word in words)))


def tidy(model: Model) -> None:
    """After a batch: memory must not grow with the texts that went through."""
    if isinstance(model, ShippedModel):
        model.forget_strangers()
