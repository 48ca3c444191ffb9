"""The configuration of a fit: the recipe for the kind of examples, changed by the options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bough.data import find_data
from bough.data.examples import Source
from bough.data.labelled import BRACKETS
from bough.models.bundled import WEIGHTS, load_model
from bough.models.config import Config
from bough.models.model import ENCODER, Model
from bough.models.settings import kind_named
from bough.nn import register
from bough.outputs import Output
from bough.pipelines import NAMES
from bough.pipelines.readers import Kind
from bough.train.config import TrainConfig
from bough.train.options import FitOptions
from bough.train.recipes import load_recipe, recipe_files
from bough.train.word_vectors import BUNDLED


def start_folder(options: FitOptions) -> Path | None:
    """The folder of the model that training starts from, or None."""
    if options.init_from is None or options.init_from == "none":
        return None
    return WEIGHTS / options.init_from if options.init_from in NAMES else Path(options.init_from)


def start_model(options: FitOptions) -> Model | None:
    """Return the model that training starts from, or None."""
    folder = start_folder(options)
    return None if folder is None else load_model(folder)


def chosen_settings(options: FitOptions, start: Model | None = None) -> dict[str, Any]:
    """Return the settings that these options change in the recipe."""
    chosen: dict[str, Any] = {**options.settings}  # type: ignore[dict-item]
    for option in ("layer", "epochs", "hidden_size", "batch_size", "learning_rate", "vectors"):
        if getattr(options, option) is not None:
            chosen[option] = getattr(options, option)
    if options.epochs is not None:
        chosen["patience"] = 0
    if options.layer is not None and not isinstance(options.layer, str):
        chosen["layer"] = options.layer.name or options.layer.__name__
        register(options.layer, name=chosen["layer"])
    encoder = options.encoder
    if start is not None and start.encoder is not None:
        if encoder is not None:
            raise ValueError(f"encoder {str(encoder)!r}: the model to start from has one")
        encoder = Path(options.init_from or "") / ENCODER
    if encoder is not None:
        chosen["encoder"] = str(encoder)
    return chosen


def configuration(options: FitOptions, source: Source, start: Model | None, output: Output) -> TrainConfig:
    """Return the configuration of a fit: the recipe for the kind of examples, changed by the options.

    A recipe may be for one kind of output, as `fit-trees-numbers` is. Raise a ValueError for
    options that contradict each other.
    """
    settings = chosen_settings(options, start)
    usual = "fit-trees" if source.trees else "fit-pairs" if source.pairs else "fit-texts"
    if f"{usual}-{output.kind}" in recipe_files():
        usual += f"-{output.kind}"
    if settings.get("encoder"):
        if source.trees:
            raise ValueError(f"encoder = {settings['encoder']!r} reads texts; {source.name} holds trees")
        usual += "-contextual"
    config = load_recipe(options.recipe or usual)
    if source.trees and options.trees == "balanced":
        raise ValueError(f"trees 'balanced' are for texts; {source.name} holds trees")
    reads = _reads(options, start)
    if reads is None and source.trees and options.recipe is None and _has_phrases(source):
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
    _check(options, config, start)
    return config


def _reads(options: FitOptions, start: Model | None) -> Kind | None:
    """Return the kind of trees that the layer must read; None if any kind will do."""
    if options.trees == "balanced":
        return "constituency" if options.layer is None and start is None else None
    return "dependency" if options.trees == "none" else options.trees


def _check(options: FitOptions, config: TrainConfig, start: Model | None) -> None:
    """Raise a ValueError for an option that contradicts the configuration or `start`."""
    if _reads(options, start) not in (None, tree_kind(config)):
        why = "the model to start from" if start is not None else f"layer = {config.layer!r}"
        raise ValueError(f"trees {options.trees!r}: {why} reads {tree_kind(config)} trees")
    if options.vectors is not None and (config.encoder or start is not None):
        whose = "an encoder" if config.encoder else "the model to start from"
        raise ValueError(f"vectors {options.vectors!r}: the words are those of {whose}; leave them out")
    if options.vectors not in (None, BUNDLED) and config.embeddings == "random":
        raise ValueError(f"vectors {options.vectors!r}: not with embeddings = 'random'; set them to 'tuned'")
    if options.data is not None:
        # raise an error for a missing folder before parsing, even if no vectors will be read
        find_data(options.data)


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
