"""Find the data folder and the user cache, and check files and counts."""

import os
from collections.abc import Iterable
from pathlib import Path

from bough.errors import DataError

SPLITS = ("train", "dev", "test")


def find_data(data: Path | str | None = None) -> Path:
    """Return the data folder: `data` if given, else the environment's `BOUGH_DATA`, else the user cache.

    Args:
        data: a folder. A DataError is raised if it, or `BOUGH_DATA`, does not exist.

    Examples:
        >>> import bough.data
        >>> bough.data.find_data().is_absolute()
        True
    """
    named = os.environ.get("BOUGH_DATA") if data is None else data
    if not named:
        return user_cache()
    folder = Path(named)
    if not folder.is_dir():
        origin = "BOUGH_DATA" if data is None else "the data folder"
        raise DataError(f"{origin} {folder}: no such folder; `bough fetch glove` makes one with word vectors")
    return folder


def user_cache() -> Path:
    """Return the folder of bough in the user cache.

    Examples:
        >>> import bough.data
        >>> bough.data.user_cache().name
        'bough'
    """
    import pooch

    return Path(pooch.os_cache("bough"))


def require(paths: Iterable[Path], what: str, hint: str = "") -> None:
    """Raise a DataError for the first of `paths` that is not a file; `hint` says how to get the data `what`."""
    for path in paths:
        if not path.is_file():
            way = hint or f"run `python -m paper fetch {what}`"
            raise DataError(f"{path}: no such file; {way}, or set BOUGH_DATA to the folder that has it")


def check_split(split: str) -> None:
    """Raise a ValueError unless `split` is train, dev or test."""
    choose_from("split", split, SPLITS)


def choose_from(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise a ValueError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} {value!r}: {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}")


def check_count(where: Path, found: int, known: int, what: str) -> None:
    """Raise a DataError unless the counts `found` and `known` are equal."""
    if found != known:
        reason = "the file is damaged or not the expected one (for your own data use check=False)"
        raise DataError(f"{where}: {found:,} {what}, expected {known:,}; {reason}")
