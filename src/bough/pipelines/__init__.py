"""Text in, results out: a bundled model, or a user's, behind a parser."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, overload

from bough.models.bundled import WEIGHTS, load_model
from bough.models.config import Config
from bough.nn import BaseLayer, register
from bough.pipelines.relatedness import RelatednessPipeline
from bough.pipelines.results import Neighbour, Phrase, Relatedness, Sentiment
from bough.pipelines.sentiment import SentimentPipeline
from bough.text import Parser

__all__ = [
    "MODELS",
    "Neighbour",
    "Phrase",
    "Relatedness",
    "RelatednessPipeline",
    "Sentiment",
    "SentimentPipeline",
    "load",
]

MODELS = WEIGHTS
"""The folder of the bundled models."""
NAMES = ("sentiment", "relatedness", "relatedness-sick")


@overload
def load(name: Literal["sentiment"] = ..., *, parser: str | Parser = ...) -> SentimentPipeline: ...
@overload
def load(
    name: Literal["relatedness", "relatedness-sick"], *, parser: str | Parser = ...
) -> RelatednessPipeline: ...
@overload
def load(
    name: str | Path, *, parser: str | Parser = ..., layers: Iterable[type[BaseLayer]] = ...
) -> SentimentPipeline | RelatednessPipeline: ...


def load(
    name: str | Path = "sentiment",
    *,
    parser: str | Parser = "builtin",
    layers: Iterable[type[BaseLayer]] = (),
) -> SentimentPipeline | RelatednessPipeline:
    """Load a model with a parser in front.

    Args:
        name: `sentiment`, `relatedness`, `relatedness-sick` (the paper's system, trained on SICK alone), or the
            folder of a model.
        parser: a name that `bough.text.get_parser` knows (`builtin`, `spacy`, `stanza`, `corenlp`, ...), or a
            parser itself; it is loaded with the first text.
        layers: your own layer classes, by whose names the folder may call them; loading never imports code.

    Examples:
        >>> import bough
        >>> bough.load("sentiment")("A delight.").label
        'very positive'
        >>> round(bough.load("relatedness").score("A man plays a guitar", "A man plays music"), 1)
        3.9
    """
    for layer in layers:
        register(layer, name=layer.name or layer.__name__)
    folder = MODELS / name if name in NAMES else Path(name)
    if not folder.is_dir():
        raise ValueError(f"no model {str(name)!r}; there are {', '.join(NAMES)}, and any folder of a model")
    model = load_model(folder)
    pipeline = pipeline_of(model.config)(model, parser)
    pipeline.folder = folder
    return pipeline


def pipeline_of(config: Config) -> type[SentimentPipeline] | type[RelatednessPipeline]:
    """Return the class of pipeline for a model's task."""
    return RelatednessPipeline if config.of_pairs else SentimentPipeline
