"""The settings of a model and of its training: defaults, a recipe's values over them, flags over those."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self, get_type_hints

from bough.models.layers import all_settings, checked_layer, kind_named, read_layer
from bough.models.settings import check_keys, check_value, read_value
from bough.nn import Encoder
from bough.nn.registry import Kind


@dataclass(frozen=True)
class Config:
    """A model and its training. A recipe file sets any of these. A subclass may add settings of its own."""

    tasks: ClassVar[tuple[str, ...]] = ("classes", "pairs")

    about: str = ""
    task: str = "classes"  # one of `tasks`: texts or trees in classes, or pairs with ratings
    encoder: str = "constituency"  # the name of a registered layer
    hidden: int = 150

    embeddings: Literal["fixed", "tuned", "random"] = "tuned"
    vectors: str = "auto"
    # a word without a vector: drawn; the average of its parts' or stem's; that of what its writer meant
    missing: Literal["random", "parts", "written"] = "random"
    case: Literal["kept", "folded"] = "kept"  # folded: words that differ in case alone share a vector
    dimension: int = 300
    # an encoder whose states stand for the words, by its folder or name; "" for a table of word vectors
    leaves: str = ""
    leaves_freeze: int = -4  # of its layers, from below, that stay as they are; -4 for all but the top four
    leaves_pool: Literal["mean", "first"] = "mean"  # of a word's pieces
    leaves_dropout: float = 0.1  # inside its layers
    leaves_rate: float = 5e-5  # of its top layer
    leaves_decay: float = 0.9  # of the rate, from each layer to the one below
    # trees as the parser has them, or the same words halved and halved again
    shape: Literal["parse", "balanced"] = "parse"
    scale: int = 5  # K: the ratings of pairs go from 1 to K
    similarity_hidden: int = 50
    features: Literal["both", "product", "difference"] = "both"
    objective: Literal["kl", "mse"] = "kl"
    pair_features: bool = False  # what `bough.models.pair_features` sees of two trees, beside their vectors

    dropout: float = 0.5
    input_dropout: float = 0.0

    epochs: int = 10
    batch: int = 25
    spans: int = 4  # labelled phrases sampled from each sentence for a layer that reads words
    optimiser: Literal["adagrad", "adadelta", "adam", "adamw"] = "adagrad"
    rate: float = 0.05  # AdaGrad's; AdaDelta wants about 1, Adam and AdamW about 0.001
    decay: float = 1.0  # of the rates, each epoch
    beta2: float = 0.999  # Adam's and AdamW's
    warmup: float = 0.0  # the share of the run over which the rates rise; after it they fall to the end
    reset: int = 0  # epochs after which AdaGrad's sums start again from 0; 0 for never
    clip: float = 0.0  # the greatest length of all gradients together; 0 for any
    table: Literal["plain", "rows"] = "plain"  # words straight down the gradient, or by the optimiser
    embedding_rate: float = 0.1
    l2: float = 1e-4
    loss_over: Literal["trees", "nodes"] = "trees"  # the loss of labelled nodes, over the number of either
    root_weight: float = 0.0  # of the roots' mean loss, once more beside that of all nodes
    max_norm: float = 0.0  # the greatest length of a class's weights in the classifier; 0 for any
    choose: Literal["score", "loss"] = "score"  # the dev figure that picks the epoch
    patience: int = 0  # epochs without a better one after which the run ends; 0 for never
    layer: Mapping[str, Any] = field(default_factory=dict)  # what the layer's constructor takes, by name

    def __post_init__(self) -> None:
        for name, kind in self._types().items():
            check_value(name, kind, getattr(self, name))
        if self.task not in self.tasks:
            raise ValueError(f"task = {self.task!r}: one of {', '.join(map(repr, self.tasks))}")
        for name in ("hidden", "epochs", "batch", "dimension", "similarity_hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: at least 1")
        for name in (
            "spans",
            "l2",
            "embedding_rate",
            "reset",
            "clip",
            "max_norm",
            "patience",
            "leaves_rate",
            "root_weight",
        ):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} = {getattr(self, name)}: 0 or more")
        for name in ("rate", "decay", "leaves_decay"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} = {getattr(self, name)}: more than 0")
        if self.scale < 2:
            raise ValueError(f"scale = {self.scale}: at least 2")
        for name in ("dropout", "input_dropout", "warmup", "leaves_dropout", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: at least 0, below 1")
        if self.reset and self.optimiser != "adagrad":
            raise ValueError(
                f"reset = {self.reset} is for optimiser = 'adagrad'; here it is {self.optimiser!r}"
            )
        if self.shape == "balanced" and self.kind.reads != "constituency":
            raise ValueError(
                f"shape = 'balanced' is for a layer that reads trees of phrases; here it is {self.encoder!r}"
            )
        if self.leaves and self.pair_features:
            raise ValueError(f"leaves = {self.leaves!r} go with no pair_features")
        if self.root_weight and self.loss_over != "nodes":
            raise ValueError(f"root_weight = {self.root_weight} is for loss_over = 'nodes'")
        if self.max_norm and self.of_pairs:
            raise ValueError(f"max_norm = {self.max_norm} is for a classifier; task = {self.task!r} has none")
        if self.pair_features and (not self.of_pairs or self.embeddings != "fixed"):
            raise ValueError(
                "pair_features are for a task of pairs with embeddings = 'fixed'; "
                f"here they are {self.task!r} and {self.embeddings!r}"
            )
        sizes = (self.dimension, self.hidden)
        object.__setattr__(self, "layer", checked_layer(self.encoder, self.layer, sizes))

    @property
    def of_pairs(self) -> bool:
        """Whether the examples are pairs with ratings."""
        return self.task == "pairs"

    @property
    def kind(self) -> Kind:
        """The layer that `encoder` names."""
        return kind_named(self.encoder)

    def build_layer(self, relations: int = 1) -> Encoder:
        """A new layer as this configuration has it."""
        return self.kind.build(self.dimension, self.hidden, relations, self.layer)

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Some values replaced; texts, as a command line has them, are read as the key's type.

        A key is one of these, or a setting of the layer. Settings of the layer there was before do not go over
        to another one.
        """
        types = self._types()
        encoder = settings.get("encoder", self.encoder)
        own = {key: read_value(key, types[key], value) for key, value in settings.items() if key in types}
        kept = self.layer if encoder == self.encoder else {}
        layer = {key: value for key, value in settings.items() if key not in types}
        if layer:
            check_keys(layer, [*types, *all_settings()])
            layer = read_layer(str(encoder), layer)
        return replace(self, **own, layer={**kept, **layer})

    @classmethod
    def stored(cls, settings: Mapping[str, Any]) -> Self:
        """From a model folder; what an older bough wrote there of other layers' settings means nothing."""
        types, encoder = cls._types(), settings.get("encoder", cls.encoder)
        mine = kind_named(str(encoder)).settings
        others = all_settings() - set(mine)
        return cls().with_settings({k: v for k, v in settings.items() if k in types or k not in others})

    def as_dict(self) -> dict[str, Any]:
        """Every value, the layer's settings among them, for a JSON file."""
        found = asdict(self)
        layer = found.pop("layer")
        return {**found, **layer}

    @classmethod
    @cache
    def _types(cls) -> dict[str, Any]:
        return {name: kind for name, kind in get_type_hints(cls).items() if name not in ("layer", "tasks")}
