"""The bundled pipelines, loaded once for all tests."""

from functools import cache
from pathlib import Path

import bough
from bough.pipelines import PairPipeline, Pipeline


@cache
def sentiment() -> Pipeline:
    """The bundled sentiment model behind the built-in parser."""
    pipeline = bough.load("sentiment")
    assert isinstance(pipeline, Pipeline)
    return pipeline


@cache
def related() -> PairPipeline:
    """The bundled relatedness model behind the built-in parser."""
    pipeline = bough.load("relatedness")
    assert isinstance(pipeline, PairPipeline)
    return pipeline


def of_classes(folder: Path) -> Pipeline:
    """The model of a folder that says classes."""
    pipeline = bough.load(folder)
    assert isinstance(pipeline, Pipeline)
    return pipeline
