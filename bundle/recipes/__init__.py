"""The recipes of the bundled models."""

from __future__ import annotations

from pathlib import Path

from bough.train.recipes import read_recipe
from bundle.config import BundleConfig

FOLDER = Path(__file__).parent


def load_recipe(name: str) -> BundleConfig:
    """Read a recipe of a bundled model by its name, or a TOML file by its path."""
    return read_recipe(BundleConfig(), name, FOLDER)
