"""The configuration of a model: its inputs, its layer and its head."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Literal, Self, get_type_hints

from bough.files import outline
from bough.models.settings import all_settings, check_keys, check_value, in_range, kind_named, read_value
from bough.nn import BaseLayer, kinds
from bough.nn.registry import Kind


@dataclass(frozen=True)
class Config:
    """The configuration of a model. `bough.train.config.TrainConfig` adds that of its training."""

    about: str = ""

    # the layer
    layer: str = "constituency"  # the name of a registered layer
    hidden_size: int = 150
    layer_settings: Mapping[str, Any] = field(default_factory=dict)  # arguments of its constructor, by name
    # the trees of the parser, or balanced trees of the same words
    shape: Literal["parse", "balanced"] = "parse"

    # the inputs
    embeddings: Literal["fixed", "tuned", "random"] = "tuned"
    vectors: str = "auto"
    # the vector of an out-of-vocabulary word: random, or the mean of its parts; "written" also corrects typos and reads
    # emoji and hashtags, and removes account names and addresses from a text before it is parsed
    oov: Literal["random", "parts", "written"] = "random"
    lowercase: bool = False  # words that differ in case alone share a vector
    embedding_size: int = 300
    encoder: str = ""  # the folder or the name of a transformer whose hidden states replace the word vectors
    encoder_freeze: int = -4  # the number of frozen layers, from the bottom; -4 for all but the top four
    encoder_pool: Literal["mean", "first"] = "mean"  # of the subwords of a word
    encoder_dropout: float = 0.1  # inside its layers
    node_text: bool = False  # whether a node's token is a text, read as the mean of its words' vectors
    combine: Literal["sum", "join"] = "sum"  # how words, categories and numbers of a node become one row
    # the size of the embeddings of categories and of the projection of numbers, unless it is that of the words
    category_size: int = 32
    # which numbers are read as logarithms; "auto" for those that span decades
    log_numbers: Literal["auto", "all", "none"] = "auto"
    input_dropout: float = 0.0

    # the head
    dropout: float = 0.5
    scale: int = 5  # K: the ratings of pairs go from 1 to K
    similarity_hidden: int = 50
    # the features of two vectors that the head reads; "cosine" rates by the cosine alone, as a vector index does
    features: Literal["both", "product", "difference", "cosine"] = "both"
    objective: Literal["kl", "mse"] = "kl"

    def __post_init__(self) -> None:
        for name, kind in self._types().items():
            check_value(name, kind, getattr(self, name))
        in_range(self, "at least 1", "hidden_size", "embedding_size", "similarity_hidden", "category_size")
        in_range(self, "at least 0, below 1", "dropout", "input_dropout", "encoder_dropout")
        if self.scale < 2:
            raise ValueError(f"scale = {self.scale}: at least 2")
        if self.shape == "balanced" and self.kind.reads != "constituency":
            wanted = "for a layer that reads trees of phrases"
            raise ValueError(f"shape = 'balanced' is {wanted}; here it is {self.layer!r}")
        if self.node_text and (self.encoder or self.shape != "parse" or self.kind.reads == "words"):
            raise ValueError("node_text goes with word vectors and a layer that reads trees as they are")
        types, layer = _layer_types(self.kind), {**self.kind.settings, **self.layer_settings}
        for name, value in layer.items():
            check_value(name, types[name], value)
        with outline():
            self.kind.build(self.embedding_size, self.hidden_size, 1, layer)
        object.__setattr__(self, "layer_settings", layer)

    @property
    def kind(self) -> Kind:
        """The registered layer that `layer` names."""
        return kind_named(self.layer)

    def build_layer(self, relations: int = 1, input_size: int | None = None, edge_size: int = 0) -> BaseLayer:
        """Return a new layer of this configuration; `input_size` is that of the word vectors unless it is given."""
        size = self.embedding_size if input_size is None else input_size
        return self.kind.build(size, self.hidden_size, relations, self.layer_settings, edge_size)

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return a configuration with some values replaced. Strings are converted to the type of their key.

        A key is a field or a setting of the layer. If the layer changes, its settings are its
        defaults. Raise a ValueError for an unknown key or a wrong value.
        """
        types = self._types()
        name = str(settings.get("layer", self.layer))
        own = {key: read_value(key, types[key], value) for key, value in settings.items() if key in types}
        layer = dict(self.layer_settings) if name == self.layer else {}
        rest = {key: value for key, value in settings.items() if key not in types}
        if rest:
            kind = kind_named(name)  # raise the error about an unknown layer first
            check_keys(rest, [*types, *all_settings()])
            for key, value in rest.items():
                if key not in kind.settings:
                    owners = [repr(other.name) for other in kinds().values() if key in other.settings]
                    where = " or ".join(owners)
                    raise ValueError(f"{key} = {value} is for layer = {where}; here it is {name!r}")
                layer[key] = read_value(key, _layer_types(kind)[key], value)
        return replace(self, **own, layer_settings=layer)

    def as_dict(self) -> dict[str, Any]:
        """Return all values, including the settings of the layer, for a JSON file."""
        found = asdict(self)
        layer = found.pop("layer_settings")
        return {**found, **layer}

    @classmethod
    @cache
    def _types(cls) -> dict[str, Any]:
        hints = get_type_hints(cls)
        del hints["layer_settings"]
        return hints


def _layer_types(kind: Kind) -> dict[str, Any]:
    hints = get_type_hints(kind.layer.__init__)
    return {name: hints.get(name, type(default)) for name, default in kind.settings.items()}
