"""What a built-in parser is made of and how it is trained."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bough.parsing.builtin.network import Size


@dataclass(frozen=True)
class Config:
    """One training run: sizes, data weights, optimiser. The same config and seed give the same parser."""

    seed: int = 1
    epochs: int = 30
    size: Size = field(default_factory=Size)
    vectors: str = "6B"  # the GloVe set whose rows are mapped, then folded away
    words: int = 40_000  # the most frequent words of that set; the treebanks' own words come on top
    frequent: int = 4  # a word as frequent as this in training also has a vector of its own
    longest: int = 60  # longer sentences are not trained on
    batch_tokens: int = 400
    rate: float = 2e-3
    warmup: int = 300
    dropout: float = 0.3
    word_dropout: float = 0.1  # words seen by their affixes and shape alone
    average: float = 0.998  # decay, a step, of the average of weights that is kept
    tag_weight: float = 0.5  # the auxiliary task: parts of speech, where the treebank has them
    converted_weight: float = 0.5  # arcs that come from phrase structure, not from the dependency files
    gum_share: float = 0.5  # of GUM's sentences an epoch: its brackets are in a style of its own

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_tokens", "longest", "words"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: at least 1")
        if not 0 <= self.gum_share <= 1:
            raise ValueError(f"gum_share = {self.gum_share}: from 0 to 1")
        for name in ("dropout", "word_dropout", "average"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: from 0 up to, not including, 1")

    def json(self) -> str:
        """The config as JSON text."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Config:
        """From a dict such as `json` writes; an unknown key is a ValueError."""
        _check_keys(values, cls)
        given = dict(values)
        if "size" in given:
            _check_keys(given["size"], Size)
            given["size"] = Size(**given["size"])
        return cls(**given)


def _check_keys(values: dict[str, Any], kind: type[Config] | type[Size]) -> None:
    known = [entry.name for entry in fields(kind)]
    for key in values:
        if key not in known:
            raise ValueError(f"unknown key {key!r}; known are {', '.join(known)}")
