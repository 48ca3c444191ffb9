"""Read the paper's recipes, one TOML file for each system."""

import shlex
from pathlib import Path

from bough.train.recipes import read_recipe
from paper.config import PaperConfig

FOLDER = Path(__file__).parent


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
    """Return the command that trains a configuration again, with its settings over the recipe."""
    try:
        usual = read_recipe(type(config)(), recipe, config.recipes).as_dict()
    except ValueError:  # the recipe is a file of the user, which has all the settings
        usual = config.as_dict()
    words = [*config.program.split(), recipe, "--seed", str(seed)]
    for key, value in config.as_dict().items():
        if key not in usual or value != usual[key]:
            words += ["--set", f"{key}={value}"]
    return shlex.join(words)
