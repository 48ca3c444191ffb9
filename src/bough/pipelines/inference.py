"""Run a model on trees: the part that all pipelines share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough.files import read_json
from bough.models.batching import Sentence, collate
from bough.models.bundled import ShippedModel
from bough.models.model import UNKNOWN, Model
from bough.nn.engine import one_thread
from bough.pipelines.readers import reader_for
from bough.text import Parser

Floats = NDArray[np.float32]
_OWN = ("format", "config", "relations", "purpose", "kind")  # keys of config.json that `Model.save` writes


class BasePipeline:
    """A model, the reader that makes its trees, and the model's card and facts, or the folder that holds them."""

    def __init__(self, model: Model, parser: str | Parser) -> None:
        self.model, self.reader = model, reader_for(model, parser)
        self.card = ""
        self.facts: Mapping[str, Any] = {}
        self.folder: Path | None = None

    def save(self, folder: Path | str) -> None:
        """Write the four files of a model folder, which `bough.load` reads; see docs/format.md."""
        card, facts = self.card, self.facts
        if self.folder is not None:
            facts = {k: v for k, v in read_json(self.folder / "config.json").items() if k not in _OWN}
            readme = self.folder / "README.md"
            card = readme.read_text(encoding="utf-8") if readme.is_file() else card
        self.model.save(Path(folder), card=card, facts=facts)


def threads(model: Model) -> AbstractContextManager[object]:
    """Use one thread for a layer, whose steps are small, and all of torch's for a transformer under it."""
    return one_thread() if model.encoder is None else nullcontext()


@torch.inference_mode()
def sentence_vectors(model: Model, sentences: Sequence[Sentence]) -> Tensor:
    """Return (sentences, D), the vector of each prepared sentence. The model may then forget their unknown words."""
    if not sentences:
        return torch.zeros(0, model.layer.width)
    with threads(model):
        forest, ids = collate(sentences, model)
        vectors = model.sentences(model.look_up(forest, ids), forest)
    forget_unknown_words(model)
    return vectors


@torch.no_grad()
def mean_rows(model: Model, sentences: Sequence[Sequence[str]]) -> Floats:
    """Return (sentences, X), the mean embedding of each sentence's words; the unknown word's if there are none."""
    texts = [words or [UNKNOWN] for words in sentences]
    if model.encoder is not None:
        rows = model.encoder.words(texts)
    else:
        rows = model.vectors(torch.from_numpy(model.ids(word for words in texts for word in words)))
    means = np.zeros((len(texts), model.config.embedding_size), dtype=np.float32)
    for mean, own in zip(means, rows.split([len(words) for words in texts]), strict=True):
        mean[:] = own.mean(dim=0).cpu().numpy()
    forget_unknown_words(model)
    return means


def forget_unknown_words(model: Model) -> None:
    """Clear the cache of unknown words after a batch: memory must not grow with the number of texts."""
    if isinstance(model, ShippedModel):
        model.forget_strangers()
