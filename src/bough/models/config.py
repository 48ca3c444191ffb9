"""The settings of a model: what it reads, its layer and its head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self, get_type_hints

from bough.models.layers import all_settings, checked_layer, kind_named, read_layer
from bough.models.settings import check_keys, check_value, in_range, read_value
from bough.nn import BaseLayer
from bough.nn.registry import Kind


@dataclass(frozen=True)
class Config:
    """What a model is made of. `bough.train.config.TrainConfig` adds how it is trained."""

    tasks: ClassVar[tuple[str, ...]] = ("classes", "pairs")

    about: str = ""
    task: str = "classes"  # one of `tasks`: texts or trees in classes, or pairs with ratings

    # the layer
    layer: str = "constituency"  # the name of a registered layer
    hidden_size: int = 150
    layer_settings: Mapping[str, Any] = field(default_factory=dict)  # arguments of its constructor, by name
    # trees as the parser has them, or balanced trees over the same words
    shape: Literal["parse", "balanced"] = "parse"

    # the inputs
    embeddings: Literal["fixed", "tuned", "random"] = "tuned"
    vectors: str = "auto"
    # a word without a vector: drawn at random, the mean of its parts, or the word that its writer meant
    oov: Literal["random", "parts", "written"] = "random"
    lowercase: bool = False  # words that differ in case alone share a vector
    embedding_size: int = 300
    encoder: str = ""  # a transformer whose states stand for the words, by its folder or name
    encoder_freeze: int = -4  # how many of its layers stay fixed, from below; -4 for all but the top four
    encoder_pool: Literal["mean", "first"] = "mean"  # of a word's pieces
    encoder_dropout: float = 0.1  # inside its layers
    input_dropout: float = 0.0

    # the head
    dropout: float = 0.5
    scale: int = 5  # K: the ratings of pairs go from 1 to K
    similarity_hidden: int = 50
    features: Literal["both", "product", "difference"] = "both"
    objective: Literal["kl", "mse"] = "kl"
    pair_features: bool = False  # what `bough.models.pair_features` sees of two trees, beside their vectors

    def __post_init__(self) -> None:
        for name, kind in self._types().items():
            check_value(name, kind, getattr(self, name))
        if self.task not in self.tasks:
            raise ValueError(f"task = {self.task!r}: one of {', '.join(map(repr, self.tasks))}")
        in_range(self, "at least 1", "hidden_size", "embedding_size", "similarity_hidden")
        in_range(self, "at least 0, below 1", "dropout", "input_dropout", "encoder_dropout")
        if self.scale < 2:
            raise ValueError(f"scale = {self.scale}: at least 2")
        if self.shape == "balanced" and self.kind.reads != "constituency":
            raise ValueError(
                f"shape = 'balanced' is for a layer that reads trees of phrases; here it is {self.layer!r}"
            )
        if self.encoder and self.pair_features:
            raise ValueError(f"encoder = {self.encoder!r} goes with no pair_features")
        if self.pair_features and (not self.of_pairs or self.embeddings != "fixed"):
            raise ValueError(
                "pair_features are for a task of pairs with embeddings = 'fixed'; "
                f"here they are {self.task!r} and {self.embeddings!r}"
            )
        sizes = (self.embedding_size, self.hidden_size)
        object.__setattr__(self, "layer_settings", checked_layer(self.layer, self.layer_settings, sizes))

    @property
    def of_pairs(self) -> bool:
        """Whether the examples are pairs with ratings."""
        return self.task == "pairs"

    @property
    def kind(self) -> Kind:
        """The registered layer that `layer` names."""
        return kind_named(self.layer)

    def build_layer(self, relations: int = 1) -> BaseLayer:
        """A new layer as this configuration has it."""
        return self.kind.build(self.embedding_size, self.hidden_size, relations, self.layer_settings)

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Some values replaced; texts, as a command line has them, are read as the key's type.

        A key is one of these, or a setting of the layer. Settings of the layer there was before do not go over
        to another one.
        """
        types = self._types()
        name = settings.get("layer", self.layer)
        own = {key: read_value(key, types[key], value) for key, value in settings.items() if key in types}
        kept = self.layer_settings if name == self.layer else {}
        layer = {key: value for key, value in settings.items() if key not in types}
        if layer:
            check_keys(layer, [*types, *all_settings()])
            layer = read_layer(str(name), layer)
        return replace(self, **own, layer_settings={**kept, **layer})

    @classmethod
    def stored(cls, settings: Mapping[str, Any]) -> Self:
        """From a model folder; what an older bough wrote there of other layers' settings means nothing."""
        types, name = cls._types(), settings.get("layer", cls.layer)
        mine = kind_named(str(name)).settings
        others = all_settings() - set(mine)
        return cls().with_settings({k: v for k, v in settings.items() if k in types or k not in others})

    def as_dict(self) -> dict[str, Any]:
        """Every value, the layer's settings among them, for a JSON file."""
        found = asdict(self)
        layer = found.pop("layer_settings")
        return {**found, **layer}

    @classmethod
    @cache
    def _types(cls) -> dict[str, Any]:
        return {
            name: kind
            for name, kind in get_type_hints(cls).items()
            if name not in ("layer_settings", "tasks")
        }
