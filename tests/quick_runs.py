"""Every recipe, small enough to be trained in a test."""

from pathlib import Path
from typing import Any

from bundle.config import BundleConfig
from bundle.config import load_recipe as load_bundled
from paper.config import PaperConfig
from paper.recipes import load_recipe

QUICK: dict[str, Any] = {"epochs": 2, "hidden_size": 8, "similarity_hidden": 5}
FILES = (
    "config.json",
    "vocab.txt",
    "model.safetensors",
    "README.md",
    "metrics.jsonl",
    "run.json",
    "test.json",
)


def recipe_of(name: str) -> PaperConfig:
    """Of a bundled model or of the paper."""
    return (load_bundled if (BundleConfig.recipes / f"{name}.toml").exists() else load_recipe)(name)


def quick(name: str) -> PaperConfig:
    # the small data folder has other vectors than a recipe may ask for
    return recipe_of(name).with_settings({**QUICK, "source": "own", "vectors": "auto"})


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}
