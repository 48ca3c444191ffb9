"""The recipes of `bough fit`, one TOML file for each kind of examples, and their reader."""

import tomllib
import warnings
from pathlib import Path
from typing import TypeVar

from bough.models.settings import nearest
from bough.train.config import TrainConfig

C = TypeVar("C", bound=TrainConfig)
FOLDER = Path(__file__).parent


def recipe_files(folder: Path = FOLDER) -> list[str]:
    """Return the names of the recipes in a folder.

    Args:
        folder: a folder with one TOML file per recipe; by default, that of `bough fit`.

    Examples:
        >>> from bough.train.recipes import recipe_files
        >>> "fit-texts" in recipe_files()
        True
    """
    return sorted(file.stem for file in folder.glob("*.toml"))


def read_recipe(config: C, name: str, folder: Path = FOLDER, *, hint: str = "") -> C:
    """Return a configuration with the values of a recipe.

    Args:
        config: the configuration whose values the recipe replaces.
        name: the name of a recipe in `folder`, or a path that ends in `.toml`.
        folder: the folder of the recipes.
        hint: the end of the error message for an unknown name; by default, the known names.

    Raises:
        ValueError: if there is no such recipe, or if it is wrong.
    """
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if path.parent == folder and not path.is_file():
        known = recipe_files(folder)
        raise ValueError(f"unknown recipe {name!r}{nearest(name, known)}; {hint or ', '.join(known)}")
    try:
        settings = tomllib.loads(path.read_bytes().decode())
        if "task" in settings and not hasattr(config, "task"):
            warnings.warn(f"recipe {name}: `task` has no effect; the labels say it", DeprecationWarning, 2)
            del settings["task"]
        return config.with_settings(settings)
    except OSError as error:
        raise ValueError(f"{name}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise ValueError(f"recipe {name}: {error}") from None


def load_recipe(name: str) -> TrainConfig:
    """Return the configuration of a recipe of `bough fit`, or of a recipe file.

    Args:
        name: a recipe's name, or a path that ends in `.toml`.

    Examples:
        >>> from bough.train.recipes import load_recipe
        >>> load_recipe("fit-texts").layer
        'constituency'
    """
    return read_recipe(TrainConfig(), name)
