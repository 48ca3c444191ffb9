"""The paper's recipes, one TOML file for each system, and how one is read."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TypeVar

from bough.train.recipes import read_recipe, recipe_files
from paper.config import PaperConfig

C = TypeVar("C", bound=PaperConfig)
FOLDER = Path(__file__).parent


def recipe_names(folder: Path = FOLDER) -> list[str]:
    """Return the names of the recipes in a folder."""
    return recipe_files(folder)


def load_recipe(name: str) -> PaperConfig:
    """Read a recipe of the paper by its name, or a TOML file by its path.

    Args:
        name: a recipe's name, or a path that ends in `.toml`.

    Examples:
        >>> from paper.recipes import load_recipe
        >>> load_recipe("sick-dependency").layer
        'dependency'
    """
    return read_recipe(PaperConfig(), name, FOLDER, hint="`python -m paper recipes` lists them all")


def command_for(config: PaperConfig, recipe: str, seed: int) -> str:
    """Return the command that trains this again, with what was set over the recipe."""
    try:
        usual = read_recipe(type(config)(), recipe, config.recipes).as_dict()
    except ValueError:  # another file: all that matters is in the settings
        usual = config.as_dict()
    words = [*config.program.split(), recipe, "--seed", str(seed)]
    for key, value in config.as_dict().items():
        if key not in usual or value != usual[key]:
            words += ["--set", f"{key}={value}"]
    return shlex.join(words)
