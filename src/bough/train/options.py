"""The options of `bough fit`, `bough.fit` and the estimators, and their configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from bough.data import find_data
from bough.data.examples import Source
from bough.data.labelled import BRACKETS
from bough.data.paths import choose_from
from bough.models.bundled import WEIGHTS, load_model
from bough.models.config import Config
from bough.models.model import ENCODER, Model
from bough.models.settings import check_device, kind_named, nearest
from bough.nn import BaseLayer, register
from bough.outputs import Output, outputs
from bough.outputs.base import Scale, TargetOptions
from bough.pipelines import NAMES
from bough.pipelines.readers import Kind
from bough.text import Parser
from bough.train.config import TrainConfig
from bough.train.recipes import load_recipe, recipe_files
from bough.train.word_vectors import BUNDLED

Shape = Literal["constituency", "dependency", "balanced", "none"]


@dataclass(frozen=True)
class FitOptions:
    """The options of a fit. The default of an option that is None is set by the recipe.

    Args:
        trees: "constituency" or "dependency" trees of the parser; without a parser, "balanced"
            trees of words, for any language, or "none", a chain of words.
        parser: a name that `bough.text.get_parser` knows, or a parser.
        layer: the class of a layer, or the name of a registered one.
        hidden_size: the size of the layer's states.
        recipe: the name or the file of a recipe; by default, the recipe for the kind of examples.
        settings: values that override those of the recipe.
        epochs: the number of epochs; by default, training stops when the loss on dev no longer
            falls, and with an encoder after four epochs.
        batch_size: the number of examples per step.
        learning_rate: the learning rate of the optimizer.
        vectors: "auto", the name or the file of a GloVe set, or "bundled", the word table of the sentiment model.
        encoder: the folder or the name of a transformer whose hidden states replace the word vectors.
        init_from: the name of a bundled model, or a folder, whose layer and words training starts
            from; "none" for random weights. By default, a classifier of few texts is trained from
            random weights and from the bundled sentiment model, and the one that is better on dev
            is kept.
        task: "classes", "ordinal", "labels" (several at once), "numbers" or "ratings"; by default,
            inferred from the labels.
        scale: the scale of numbers, "linear" or "log".
        order: the classes in their order, if they form a scale.
        class_weight: "balanced", or a weight for each class by name.
        seed: random seed for the split, shuffling, initialization and dropout.
        data: the data folder, for word vectors.
        device: the device of torch to train on.

    Examples:
        >>> from bough.train.options import FitOptions
        >>> FitOptions(trees="none", epochs=4).chosen_settings()
        {'epochs': 4, 'patience': 0}
    """

    trees: Shape | None = None
    parser: str | Parser = "builtin"
    layer: str | type[BaseLayer] | None = None
    hidden_size: int | None = None
    recipe: str | None = None
    settings: Mapping[str, Any] | None = None
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    vectors: str | None = None
    encoder: str | Path | None = None
    init_from: str | Path | None = None
    task: str | None = None
    scale: Scale | None = None
    order: Sequence[str] | str = ()
    class_weight: str | Mapping[str, float] | None = None
    seed: int = 1
    data: Path | str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_device(self.device)
        for name, allowed in (
            ("trees", get_args(Shape)),
            ("task", (*outputs(),)),
            ("scale", get_args(Scale)),
        ):
            if (value := getattr(self, name)) is not None:
                choose_from(name, value, allowed)
        if self.trees == "balanced":
            object.__setattr__(self, "parser", "balanced")

    @classmethod
    def given(cls, options: Mapping[str, Any]) -> FitOptions:
        """Return options from their names and values. Raise a TypeError for an unknown name."""
        known = [option.name for option in fields(cls)]
        for name in options:
            if name not in known:
                raise TypeError(f"fit() has no option {name!r}{nearest(name, known)}")
        return cls(**options)

    @property
    def targets(self) -> TargetOptions:
        """What the options say about the labels."""
        order = self.order.split(",") if isinstance(self.order, str) and self.order else self.order
        return TargetOptions(self.task, self.scale, tuple(name.strip() for name in order))

    @property
    def leaves_start_open(self) -> bool:
        """Whether the options allow training to start from a bundled model."""
        free = ("init_from", "recipe", "settings", "vectors", "encoder", "layer", "hidden_size", "trees")
        return not any(getattr(self, name) for name in free) and self.parser == "builtin"

    @property
    def start_folder(self) -> Path | None:
        """The folder of the model that training starts from, or None."""
        if self.init_from is None or self.init_from == "none":
            return None
        return WEIGHTS / self.init_from if self.init_from in NAMES else Path(self.init_from)

    def start(self) -> Model | None:
        """Return the model that training starts from, or None."""
        return None if self.start_folder is None else load_model(self.start_folder)

    def chosen_settings(self, start: Model | None = None) -> dict[str, Any]:
        """Return the settings that these options change in the recipe."""
        chosen = dict(self.settings or {})
        for option in ("layer", "epochs", "hidden_size", "batch_size", "learning_rate", "vectors"):
            if getattr(self, option) is not None:
                chosen[option] = getattr(self, option)
        if self.epochs is not None:
            chosen["patience"] = 0
        if self.layer is not None and not isinstance(self.layer, str):
            chosen["layer"] = self.layer.name or self.layer.__name__
            register(self.layer, name=chosen["layer"])
        encoder = self.encoder
        if start is not None and start.encoder is not None:
            if encoder is not None:
                raise ValueError(f"encoder {str(encoder)!r}: the model to start from has one")
            encoder = Path(self.init_from or "") / ENCODER
        if encoder is not None:
            chosen["encoder"] = str(encoder)
        return chosen

    def config(self, source: Source, start: Model | None, output: Output) -> TrainConfig:
        """Return the configuration of a fit: the recipe for the kind of examples, changed by the options.

        A recipe may be for one kind of output, as `fit-trees-numbers` is. Raise a ValueError for
        options that contradict each other.
        """
        settings = self.chosen_settings(start)
        usual = "fit-trees" if source.trees else "fit-pairs" if source.pairs else "fit-texts"
        if f"{usual}-{output.kind}" in recipe_files():
            usual += f"-{output.kind}"
        if settings.get("encoder"):
            if source.trees:
                raise ValueError(f"encoder = {settings['encoder']!r} reads texts; {source.name} holds trees")
            usual += "-contextual"
        config = load_recipe(self.recipe or usual)
        if source.trees and self.trees == "balanced":
            raise ValueError(f"trees 'balanced' are for texts; {source.name} holds trees")
        reads = self._reads(start)
        if reads is None and source.trees and self.recipe is None and _has_phrases(source):
            reads = "constituency"
        if reads is not None and config.kind.reads != reads:
            known = kind_named(reads).settings
            kept = {name: value for name, value in config.layer_settings.items() if name in known}
            if reads == "constituency":
                kept["leaf"] = "affine"  # the words are at the leaves
            config = config.with_settings({"layer": reads, **kept})
        config = config.with_settings(settings)
        if config.shape != "parse":
            why = "is a control of the paper's systems; for words without a parse set trees to none"
            raise ValueError(f"shape = {config.shape!r} {why}")
        if not source.pairs and not kind_named(config.layer).layer.phrases:
            why = "has no states of phrases; for words in a row set trees to none"
            raise ValueError(f"layer = {config.layer!r} {why}")
        if start is not None:
            config = _like(start, config)
        self._check(config, start)
        return config

    def _reads(self, start: Model | None) -> Kind | None:
        """Return the kind of trees that the layer must read; None if any kind will do."""
        if self.trees == "balanced":
            return "constituency" if self.layer is None and start is None else None
        return "dependency" if self.trees == "none" else self.trees

    def _check(self, config: TrainConfig, start: Model | None) -> None:
        """Raise a ValueError for an option that contradicts the configuration or `start`."""
        if self._reads(start) not in (None, tree_kind(config)):
            why = "the model to start from" if start is not None else f"layer = {config.layer!r}"
            raise ValueError(f"trees {self.trees!r}: {why} reads {tree_kind(config)} trees")
        if self.vectors is not None and (config.encoder or start is not None):
            whose = "an encoder" if config.encoder else "the model to start from"
            raise ValueError(f"vectors {self.vectors!r}: the words are those of {whose}; leave them out")
        if self.vectors not in (None, BUNDLED) and config.embeddings == "random":
            raise ValueError(f"vectors {self.vectors!r}: not with embeddings = 'random'; set them to 'tuned'")
        if self.data is not None:
            # raise an error for a missing folder before parsing, even if no vectors will be read
            find_data(self.data)


def tree_kind(config: Config) -> Kind:
    """Return the kind of trees that a layer reads; a chain of words is a dependency tree."""
    reads = config.kind.reads
    return "dependency" if reads == "words" else reads


def _like(start: Model, config: TrainConfig) -> TrainConfig:
    """Return the configuration with the layer and the sizes of the model to start from."""
    own, names = start.config, ["layer", "hidden_size", "embedding_size", "lowercase"]
    if bool(config.encoder) != bool(own.encoder):
        raise ValueError("the model to start from has no encoder; start from a model that has an encoder")
    if own.encoder:
        names += ["encoder_freeze", "encoder_pool"]
    same = {**own.layer_settings, **{name: getattr(own, name) for name in names}}
    if config.embeddings == "random":
        same["embeddings"] = "tuned"
    return config.with_settings(same)


def _has_phrases(source: Source) -> bool:
    """Return whether only the leaves of the trees have words, judged by the first tree with several nodes.

    If no tree has several nodes, bracketed trees are taken for phrase trees.
    """
    tree = next((tree for one in source.examples for tree in one.trees if len(tree) > 1), None)
    if tree is None:
        return Path(source.name).suffix.lower() in BRACKETS
    inner = np.flatnonzero(tree.degrees).tolist()
    return tree.tokens is not None and all(tree.tokens[node] is None for node in inner)
