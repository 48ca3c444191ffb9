"""The configuration of the training of a parser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import get_type_hints

from bough.models.settings import check_keys, in_range, read_value
from bough.text.builtin.network import Size


@dataclass(frozen=True)
class Config:
    """The settings of a training run. Equal configurations give the same parser."""

    seed: int = 1
    epochs: int = 16
    patience: int = 0  # epochs without improvement after which training stops; 0 for never
    size: Size = field(default_factory=Size)
    words: int = 40_000  # from the file of vectors; the words of the treebanks are added
    frequent: int = 4  # a word that occurs so often in training has a trained vector
    longest: int = 60  # longer sentences are not trained on
    batch_tokens: int = 450
    learning_rate: float = 2e-3
    warmup: int = 300
    dropout: float = 0.3
    recurrent_dropout: float = 0.15  # of the entries of the recurrent weight matrices
    word_dropout: float = 0.15  # share of words of which only affixes and shape are read
    bfloat16: bool = False  # train the LSTM in bfloat16, which is faster on CPUs that support it
    average: float = 0.998  # decay per step of the running average of the weights
    tag_weight: float = 0.5  # weight of an auxiliary loss: parts of speech
    label_weight: float = 0.5  # weight of an auxiliary loss: labels of phrases
    converted_weight: float = 0.7  # weight of heads that were converted from phrase trees

    def __post_init__(self) -> None:
        in_range(self, "at least 1", "epochs", "batch_tokens", "longest", "words", "warmup")
        in_range(self, "more than 0", "learning_rate")
        in_range(self, "at least 0, below 1", "dropout", "recurrent_dropout", "word_dropout", "average")

    def with_settings(self, settings: Mapping[str, str]) -> Config:
        """Return a copy with some values of `Config` or `Size` replaced, given as strings."""
        kinds, sizes = get_type_hints(Config), get_type_hints(Size)
        del kinds["size"]
        known = kinds | sizes
        check_keys(settings, known)
        values = {key: read_value(key, known[key], text) for key, text in settings.items()}
        size = replace(self.size, **{key: value for key, value in values.items() if key in sizes})
        return replace(self, size=size, **{key: value for key, value in values.items() if key in kinds})
