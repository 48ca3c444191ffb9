"""What a run is made of: the paper's values as defaults, a recipe's over them, flags over those."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

from bough.model.settings import check_keys, read_value

Encoder = Literal["constituency", "dependency", "lstm", "mean", "dt-rnn", "sdt-rnn"]

_ONLY: dict[str, tuple[Encoder, ...]] = {  # settings that mean nothing to the other encoders
    "layers": ("lstm",),
    "bidirectional": ("lstm",),
    "tied": ("lstm",),
    "forget": ("constituency",),
    "forget_bias": ("constituency",),
    "recurrent_dropout": ("constituency", "dependency"),
    "nonlinearity": ("dt-rnn", "sdt-rnn"),
    "average": ("dt-rnn", "sdt-rnn"),
}


@dataclass(frozen=True)
class Config:
    """One system of the paper, or one like it. A recipe file sets any of these."""

    about: str = ""
    task: Literal["sst5", "sst2", "sick"] = "sst5"
    source: Literal["data", "own", "demo"] = (
        "data"  # the real data; one's own in its layout; the package's treebank
    )
    encoder: Encoder = "constituency"
    hidden: int = 150
    layers: int = 1
    bidirectional: bool = False
    tied: bool = True
    output_gate: bool = True
    forget: Literal["full", "diagonal", "tied"] = "full"
    nonlinearity: Literal["tanh", "relu", "sigmoid"] = "tanh"  # of the DT-RNN and SDT-RNN
    average: bool = False  # likewise: a node's sum divided by the words below it

    embeddings: Literal["fixed", "tuned", "random"] = "tuned"
    vectors: str = "auto"
    missing: Literal["random", "parts"] = (
        "random"  # a word without a vector: drawn, or the average of its parts' or stem's
    )
    case: Literal["kept", "folded"] = "kept"  # folded: words that differ in case alone share a vector
    dimension: int = 300
    scale: int = 5  # K: the ratings of pairs go from 1 to K
    similarity_hidden: int = 50
    features: Literal["both", "product", "difference"] = "both"
    objective: Literal["kl", "mse"] = "kl"

    dropout: float = 0.5
    input_dropout: float = 0.0
    recurrent_dropout: float = 0.0
    forget_bias: float = 0.0

    epochs: int = 10
    batch: int = 25
    spans: int = 4  # sampled from each sentence for a sequential model on SST, beside the sentence itself
    optimiser: Literal["adagrad", "adadelta", "adam", "adamw"] = "adagrad"
    rate: float = 0.05  # AdaGrad's; AdaDelta wants about 1, Adam and AdamW about 0.001
    decay: float = 1.0  # of the rates, each epoch
    warmup: float = 0.0  # the share of the run over which the rates rise; after it they fall to the end
    reset: int = 0  # epochs after which AdaGrad's sums start again from 0; 0 for never
    clip: float = 0.0  # the greatest length of all gradients together; 0 for any
    table: Literal["plain", "rows"] = "plain"  # words straight down the gradient, or by the optimiser
    embedding_rate: float = 0.1
    l2: float = 1e-4
    choose: Literal["score", "loss"] = "score"  # the dev figure that picks the epoch
    limit: int = 0  # the first so many examples of every split; 0 for all

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(Config).items():
            _check(name, kind, getattr(self, name))
        for name in ("hidden", "layers", "epochs", "batch", "dimension", "similarity_hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: at least 1")
        for name in ("limit", "spans", "l2", "embedding_rate", "reset", "clip"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} = {getattr(self, name)}: 0 or more")
        for name in ("rate", "decay"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} = {getattr(self, name)}: more than 0")
        if self.scale < 2:
            raise ValueError(f"scale = {self.scale}: at least 2")
        for name in ("dropout", "input_dropout", "recurrent_dropout", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: at least 0, below 1")
        for name, encoders in _ONLY.items():
            if getattr(self, name) != getattr(Config, name) and not means_something(name, self.encoder):
                raise ValueError(
                    f"{name} = {getattr(self, name)!r} is for encoder = {' or '.join(map(repr, encoders))}; "
                    f"here it is {self.encoder!r}"
                )
        if self.reset and self.optimiser != "adagrad":
            raise ValueError(
                f"reset = {self.reset} is for optimiser = 'adagrad'; here it is {self.optimiser!r}"
            )
        if not math.isfinite(self.forget_bias):
            raise ValueError(f"forget_bias = {self.forget_bias}: a finite number")
        if self.task != "sick" and self.encoder in ("mean", "dt-rnn", "sdt-rnn"):
            raise ValueError(f"encoder = {self.encoder!r} is for task = 'sick'; here it is {self.task!r}")
        if self.task == "sick" and self.source == "demo":
            raise ValueError("source = 'demo' is a sentiment treebank; task = 'sick' needs the data folder")

    @property
    def classes(self) -> int:
        """Of the classifier: five, or negative, neutral and positive for the binary task."""
        return 3 if self.task == "sst2" else 5

    def with_settings(self, settings: Mapping[str, Any]) -> Config:
        """Some values replaced; texts, as a command line has them, are read as the key's type."""
        types = get_type_hints(Config)
        check_keys(settings, types)
        return replace(self, **{key: read_value(key, types[key], value) for key, value in settings.items()})

    def as_dict(self) -> dict[str, Any]:
        """Every value, for a JSON file."""
        return asdict(self)


def means_something(key: str, encoder: str) -> bool:
    """Whether a setting is one that an encoder takes."""
    return key not in _ONLY or encoder in _ONLY[key]


def _check(name: str, kind: Any, value: Any) -> None:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{name} = {value!r}: one of {', '.join(map(repr, get_args(kind)))}")
    elif type(value) is not kind:
        raise ValueError(f"{name} = {value!r}: {kind.__name__} wanted, not {type(value).__name__}")
    elif kind is float and value != value:
        raise ValueError(f"{name} is not a number")
