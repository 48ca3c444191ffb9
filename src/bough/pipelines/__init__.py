"""Turn texts or trees into predictions, with a parser and a bundled or fitted model."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

from bough.data.examples import TreeColumns
from bough.files import read_text
from bough.models.bundled import WEIGHTS, model_from, read_any_model
from bough.models.model import Model
from bough.models.settings import check_device
from bough.nn import BaseLayer, register
from bough.pipelines import hub
from bough.pipelines.pairs import PairPipeline
from bough.pipelines.parses import Parse, ParsedSentence, ParserPipeline
from bough.pipelines.pipeline import Pipeline
from bough.pipelines.prediction import Neighbour, PairPrediction, Phrase, Prediction
from bough.pipelines.readers import AT_ONCE, GivenReader
from bough.text import Parser

__all__ = [
    "MODELS",
    "Neighbour",
    "PairPipeline",
    "PairPrediction",
    "Parse",
    "ParsedSentence",
    "ParserPipeline",
]
__all__ += ["Phrase", "Pipeline", "Prediction", "load"]

MODELS = WEIGHTS
"""The folder of the bundled models."""
AnyPipeline = Pipeline | PairPipeline
NAMES = ("sentiment", "relatedness")
PARSER = "parser"
# the keys of config.json that `Model.save` writes; the others are facts about the model
_SAVED = ("format", "config", "relations", "output", "trees", "inputs", "kind", "sha256")


class _Options(TypedDict, total=False):
    parser: str | Parser
    layers: Iterable[type[BaseLayer]]
    device: str
    batch_size: int


@overload
def load(name: Literal["sentiment"] = ..., **options: Unpack[_Options]) -> Pipeline: ...
@overload
def load(name: Literal["relatedness"], **options: Unpack[_Options]) -> PairPipeline: ...
@overload
def load(name: Literal["parser"], **options: Unpack[_Options]) -> ParserPipeline: ...
@overload
def load(name: str | Path, **options: Unpack[_Options]) -> Any: ...


def load(
    name: str | Path = "sentiment",
    *,
    parser: str | Parser = "builtin",
    layers: Iterable[type[BaseLayer]] = (),
    device: str = "cpu",
    batch_size: int = AT_ONCE,
) -> Any:
    """Load a model and its parser, or the parser alone, as a pipeline.

    Args:
        name: `sentiment`, `relatedness`, `parser` (trees without a model), the folder of a model, or
            `org/name`, a model on the Hugging Face Hub (extra `hub`).
        parser: a name for `bough.text.get_parser` (`builtin`, `spacy`, `stanza`, `corenlp`, ...),
            or a parser. It is loaded with the first text.
        layers: your own layer classes that the model uses; loading a folder never imports code.
        device: the device of the model: `cpu`, `cuda`, `mps`, ...
        batch_size: the number of texts, or pairs, that are parsed and scored together.

    Examples:
        >>> import bough
        >>> bough.load("sentiment")("A delight.").label
        'very positive'
        >>> round(bough.load("relatedness").score("A man plays a guitar", "A man plays music"), 1)
        3.8
        >>> bough.load("parser")("Cats climb trees.").ptb()
        '( ( Cats ( climb trees)) .)'
    """
    if name == PARSER:
        return ParserPipeline(parser, batch_size)
    check_device(device)
    for layer in layers:
        register(layer, name=layer.name or layer.__name__)
    folder = MODELS / name if name in NAMES else Path(name)
    if not folder.is_dir() and isinstance(name, str) and hub.is_repository(name):
        folder = hub.download(name)
    if not folder.is_dir():
        names = ", ".join((*NAMES, PARSER))
        raise ValueError(f"no model {str(name)!r}; use {names}, or the folder of a model")
    path = folder / "README.md"
    card = read_text(path) if path.is_file() else ""
    stored = read_any_model(folder)
    facts = {key: value for key, value in stored.meta.items() if key not in _SAVED}
    return pipeline_for(model_from(stored, device), parser, batch_size, card=card, facts=facts)


def pipeline_for(
    model: Model, parser: str | Parser, batch_size: int = AT_ONCE, *, card: str, facts: Mapping[str, Any]
) -> AnyPipeline:
    """Return the pipeline for a model, with its card and the metadata (`facts`) of its folder."""
    pipeline: AnyPipeline = (PairPipeline if model.output.pairs else Pipeline)(model, parser, batch_size)
    pipeline.card, pipeline.facts = card, facts
    if isinstance(pipeline.reader, GivenReader) and "tree_columns" in pipeline.facts:
        pipeline.reader.columns = TreeColumns(**pipeline.facts["tree_columns"])
    return pipeline
