"""The recipes that come along, one TOML file for each system, and how one is read."""

from __future__ import annotations

import shlex
import tomllib
from importlib import resources

from bough.model.config import Config
from bough.model.settings import nearest


def recipe_names() -> list[str]:
    """The recipes that the package ships.

    Examples:
        >>> from bough.training.recipes import recipe_names
        >>> "sick-dependency" in recipe_names()
        True
    """
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in resources.files("bough.training.recipes").iterdir()
        if entry.name.endswith(".toml")
    )


def load_recipe(name: str) -> Config:
    """A shipped recipe by its name, or a TOML file of your own by its path.

    Args:
        name: a recipe's name, or a path that ends in `.toml`.

    Examples:
        >>> from bough.training.recipes import load_recipe
        >>> load_recipe("sick-dependency").encoder
        'dependency'
    """
    if name.endswith(".toml"):
        try:
            with open(name, "rb") as file:
                text = file.read().decode()
        except OSError as error:
            raise ValueError(f"{name}: {error.strerror or error}") from None
    else:
        known = recipe_names()
        if name not in known:
            raise ValueError(f"unknown recipe {name!r}{nearest(name, known)}; `bough recipes` lists them all")
        text = resources.files("bough.training.recipes").joinpath(f"{name}.toml").read_text()
    try:
        return Config().with_settings(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise ValueError(f"recipe {name}: {error}") from None


def command_for(config: Config, recipe: str, seed: int) -> str:
    """The command that trains this again, with what was set over the recipe."""
    try:
        usual = load_recipe(recipe).as_dict()
    except ValueError:  # a recipe file of one's own: all that matters is in the settings
        usual = config.as_dict()
    words = ["bough", "train", recipe, "--seed", str(seed)]
    for key, value in config.as_dict().items():
        if key not in usual or value != usual[key]:
            words += ["--set", f"{key}={value}"]
    return shlex.join(words)
