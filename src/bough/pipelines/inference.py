"""What every pipeline does with a model: trees in, states out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough.models import pair_features
from bough.models.batching import Sentence, collate, prepare_all
from bough.models.bundled import ShippedModel
from bough.models.model import UNKNOWN, Model
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
    return one_thread() if model.encoder is None else nullcontext()


def sentence_vectors(model: Model, trees: Sequence[Tree]) -> Tensor:
    """(trees, D) the vector of each sentence."""
    return prepared_vectors(model, prepare_all(trees, model))


@torch.inference_mode()
def prepared_vectors(model: Model, sentences: Sequence[Sentence]) -> Tensor:
    """The same for sentences that are prepared already; with them the model's memory of unknown words may go."""
    if not sentences:
        return torch.zeros(0, model.layer.width)
    with threads(model):
        forest, ids = collate(sentences, model)
        vectors = model.sentences(model.look_up(forest, ids), forest)
    tidy(model)
    return vectors


def beside(model: Model, left: Sequence[Sentence], right: Sequence[Sentence]) -> Tensor | None:
    """(pairs, F) the features that a model with `pair_features` has beside the vectors."""
    if not model.config.pair_features:
        return None
    sides = [(a.side, b.side) for a, b in zip(left, right, strict=True) if a.side and b.side]
    return torch.from_numpy(pair_features.rows(sides)).to(model.table.device)


def mean_rows(model: Model, sentences: Sequence[Sequence[str]]) -> Floats:
    """(sentences, X) the mean of the table's rows of each sentence's words; the unknown word's without a word.

    With a transformer it is the mean of theirs.
    """
    means = np.zeros((len(sentences), model.config.embedding_size), dtype=np.float32)
    texts = [words or [UNKNOWN] for words in sentences]
    rows = _rows(model, texts).split([len(words) for words in texts])
    for mean, own in zip(means, rows, strict=True):
        mean[:] = own.mean(dim=0).cpu().numpy()
    tidy(model)
    return means


@torch.no_grad()
def _rows(model: Model, texts: Sequence[Sequence[str]]) -> Tensor:
    if model.encoder is not None:
        return model.encoder.words(texts)
    return model.vectors(torch.from_numpy(model.ids(word for words in texts for word in words)))


def tidy(model: Model) -> None:
    """After a batch: memory must not grow with the texts that went through."""
    if isinstance(model, ShippedModel):
        model.forget_strangers()
