"""The shipped pipelines, loaded once for all tests."""

from functools import cache
from pathlib import Path

import bough
from bough.pipelines import RelatednessPipeline, SentimentPipeline


@cache
def sentiment() -> SentimentPipeline:
    """The shipped sentiment model behind the built-in parser."""
    pipeline = bough.load("sentiment")
    assert isinstance(pipeline, SentimentPipeline)
    return pipeline


@cache
def related() -> RelatednessPipeline:
    """The shipped relatedness model behind the built-in parser."""
    pipeline = bough.load("relatedness")
    assert isinstance(pipeline, RelatednessPipeline)
    return pipeline


def of_classes(folder: Path) -> SentimentPipeline:
    """The model of a folder that says classes."""
    pipeline = bough.load(folder)
    assert isinstance(pipeline, SentimentPipeline)
    return pipeline
