"""Every recipe, small enough to be trained in a test."""

from pathlib import Path
from typing import Any

from bough.model.config import Config
from bough.training.recipes import load_recipe

QUICK: dict[str, Any] = {"epochs": 2, "hidden": 8, "similarity_hidden": 5}
FILES = (
    "config.json",
    "vocab.txt",
    "model.safetensors",
    "README.md",
    "metrics.jsonl",
    "run.json",
    "test.json",
)


def quick(name: str) -> Config:
    config = load_recipe(name)
    own = {
        "source": "own",
        "vectors": "auto",
    }  # the small data folder has other vectors than a recipe may ask for
    return config.with_settings({**QUICK, **({} if name == "demo" else own)})


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}
