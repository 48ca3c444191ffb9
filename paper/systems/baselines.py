"""Packages of the extra `lab`, imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType

from bough.errors import DataError

INSTALL = '`pip install "bough[lab]"`'


def module(name: str) -> ModuleType:
    """The module of that name; if its package is not installed, a DataError that says how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = {"sklearn": "scikit-learn"}.get(name.split(".")[0], name.split(".")[0])
        raise DataError(f"{package} is not installed; the cited systems need it: {INSTALL}") from error


def stemmer() -> Callable[[str], str]:
    """Porter's stemmer, each word stemmed once."""
    porter = module("nltk.stem.porter").PorterStemmer()
    return cache(lambda word: str(porter.stem(word)))
