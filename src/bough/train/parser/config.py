"""The settings of a parser's training run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_type_hints

from bough.models.settings import check_keys, read_value
from bough.text.builtin.network import Size


@dataclass(frozen=True)
class Config:
    """One training run: sizes, data weights, optimizer. The same config and seed give the same parser."""

    seed: int = 1
    epochs: int = 16
    size: Size = field(default_factory=Size)
    vectors: str = "6B"  # the GloVe set whose rows are mapped, then folded away
    words: int = 40_000  # the most frequent words of that set; the treebanks' own words come on top
    frequent: int = 4  # a word as frequent as this in training also has a vector of its own
    longest: int = 60  # longer sentences are not trained on
    batch_tokens: int = 450
    learning_rate: float = 2e-3
    warmup: int = 300
    dropout: float = 0.3
    recurrent_dropout: float = 0.15  # of the entries of the matrices from state to state
    word_dropout: float = 0.15  # words seen by their affixes and shape alone
    average: float = 0.998  # decay per step of the average of weights that is kept
    tag_weight: float = 0.5  # an auxiliary task: parts of speech, where the treebank has them
    label_weight: float = 0.5  # another: the names of the phrases
    converted_weight: float = 0.7  # arcs that come from phrase structure, not from the dependency files
    gum_share: float = 0.4  # of GUM's sentences per epoch: its brackets are in a style of its own
    silver: str = ""  # a file of `bough parser silver`: sentences with the arcs that two parsers agree on
    silver_share: float = 0.1  # of its sentences per epoch
    silver_weight: float = 0.5

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_tokens", "longest", "words", "warmup"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: at least 1")
        for name, value in asdict(self.size).items():
            if value < 1:
                raise ValueError(f"{name} = {value}: at least 1")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate = {self.learning_rate}: more than 0")
        for name in ("gum_share", "silver_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} = {getattr(self, name)}: from 0 to 1")
        for name in ("dropout", "recurrent_dropout", "word_dropout", "average"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: from 0 up to, not including, 1")

    def with_settings(self, settings: Mapping[str, str]) -> Config:
        """Return a config with some values replaced, given as texts; a field of `size` goes by its own name."""
        kinds, sizes = get_type_hints(Config), get_type_hints(Size)
        del kinds["size"]
        known = kinds | sizes
        check_keys(settings, known)
        values = {key: read_value(key, known[key], text) for key, text in settings.items()}
        size = replace(self.size, **{key: value for key, value in values.items() if key in sizes})
        return replace(self, size=size, **{key: value for key, value in values.items() if key in kinds})

    def json(self) -> str:
        """Return the config as JSON text."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Config:
        """Return the config in a dict such as `json` writes; an unknown key is a ValueError."""
        check_keys(values, get_type_hints(cls))
        given = dict(values)
        if "size" in given:
            check_keys(given["size"], get_type_hints(Size))
            given["size"] = Size(**given["size"])
        return cls(**given)
