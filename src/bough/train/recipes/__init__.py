"""The recipes of `bough fit`, one TOML file for each kind of examples, and how a recipe file is read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from bough.models.settings import nearest
from bough.train.config import TrainConfig

C = TypeVar("C", bound=TrainConfig)
FOLDER = Path(__file__).parent


def recipe_files(folder: Path = FOLDER) -> list[str]:
    """Return the names of the recipes in a folder.

    Args:
        folder: a folder with one TOML file per recipe; by default those of `bough fit`.

    Examples:
        >>> from bough.train.recipes import recipe_files
        >>> "fit-texts" in recipe_files()
        True
    """
    return sorted(file.stem for file in folder.glob("*.toml"))


def read_recipe(config: C, name: str, folder: Path = FOLDER, *, hint: str = "") -> C:
    """Set the values of a recipe over those of a configuration.

    Args:
        config: the configuration with its defaults; a subclass of `TrainConfig` may have keys of its own.
        name: the name of a recipe in `folder`, or a path that ends in `.toml`.
        folder: where recipes are found by name.
        hint: what to add to the error about an unknown name.
    """
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if path.parent == folder and not path.is_file():
        known = recipe_files(folder)
        raise ValueError(f"unknown recipe {name!r}{nearest(name, known)}; {hint or ', '.join(known)}")
    try:
        return config.with_settings(tomllib.loads(path.read_bytes().decode()))
    except OSError as error:
        raise ValueError(f"{name}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise ValueError(f"recipe {name}: {error}") from None


def load_recipe(name: str) -> TrainConfig:
    """Read a recipe of `bough fit` by its name, or a TOML file by its path.

    Args:
        name: a recipe's name, or a path that ends in `.toml`.

    Examples:
        >>> from bough.train.recipes import load_recipe
        >>> load_recipe("fit-texts").layer
        'constituency'
    """
    return read_recipe(TrainConfig(), name)
