"""Small models with random weights, and what holds of their folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from bough.files import quantised
from bough.models.bundled import BundledModel
from bough.models.config import Config
from bough.models.model import Model
from bough.outputs import Output, Ratings
from bough.outputs.classes import sentiment_classes

SMALL: dict[str, Any] = {"hidden_size": 4, "embedding_size": 3, "similarity_hidden": 3}
CLASSES = sentiment_classes()
PAIRS = Ratings()


def model_of(config: Config, output: Output = CLASSES, **options: Any) -> Model:
    """A model of four words and two relations."""
    words = ["a", "The", "nul\u00a0space", "<b>"]
    return Model(config, output, words, ["det", "nsubj"], torch.randn(5, 3), **options)


def bundled_of(words: Sequence[str]) -> BundledModel:
    """A model as it travels."""
    rows = quantised(torch.randn(len(words) + 1, 6))
    return BundledModel(Config(embedding_size=6, hidden_size=4), CLASSES, words, (), rows.codes, rows.scales)


def assert_comes_back_as_it_was(model: Model, folder: Path) -> None:
    model.save(folder, card="# card\n")
    again = Model.load(folder)
    assert again.config == model.config
    assert (again.output, again.trees) == (model.output, model.trees)
    assert again.words == model.words
    assert again.relations == model.relations
    assert all(
        torch.equal(a, b)
        for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True)
    )
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "vocab.txt",
        "model.safetensors",
        "README.md",
    }
