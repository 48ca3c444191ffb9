"""The folder of a training run: it belongs to one run, which may be resumed in it."""

import contextlib
import functools
import json
import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import torch

from bough.errors import TrainingError
from bough.files import hold, partial_files, read_json, remove_partial, write_json
from bough.models.config import Config
from bough.train.distributed import current
from bough.train.tasks import Floats
from bough.version import __version__

A = TypeVar("A")
R = TypeVar("R")
P = ParamSpec("P")


@contextlib.contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Hold a folder within the block. Raise a TrainingError if another process, or another thread, holds it."""
    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(out, os.O_RDONLY)
    except PermissionError:  # Windows does not open folders
        yield
        return
    try:
        if not hold(handle):
            raise TrainingError(
                f"{out} is being written by another run; wait for it, or choose another folder"
            )
        yield
    finally:
        os.close(handle)
        if is_new:
            with contextlib.suppress(OSError):  # unless something was written
                out.rmdir()


def alone_in_folder(function: Callable[Concatenate[A, Path, P], R]) -> Callable[Concatenate[A, Path, P], R]:
    """Decorate a function whose second argument is the folder that it writes: only one call at a time may."""

    @functools.wraps(function)
    def called(first: A, out: Path, /, *args: P.args, **options: P.kwargs) -> R:
        with alone_in(out) if current().first else contextlib.nullcontext():
            return function(first, out, *args, **options)

    return called


def lock_run_folder(out: Path, run: dict[str, Any], resume: bool) -> None:
    """Raise a TrainingError if a folder is not empty, unless the same run is resumed.

    A run that failed before its first checkpoint has left only `run.json`, which is removed.
    """
    if out.exists() and {path.name for path in out.iterdir()} == {"run.json"}:
        (out / "run.json").unlink()
    if out.exists() and {*out.iterdir()} > {*partial_files(out)}:
        if not resume:
            raise TrainingError(f"{out} is not empty; resume the run, or choose another folder")
        before = read_json(out / "run.json")
        for key, value in json.loads(json.dumps(run)).items():
            if before.get(key) != value:
                raise TrainingError(f"{out} was trained with another {key}; resume with the same {key}")
    remove_partial(out)


def record_run(out: Path, facts: dict[str, Any]) -> None:
    """Write `run.json`. Raise a TrainingError if the run was started with other data or vectors."""
    if (out / "run.json").exists():
        before = read_json(out / "run.json")
        for key in ("data", "vectors", "coverage", "encoder"):
            if before.get(key, facts.get(key)) != facts.get(key):
                raise TrainingError(f"{out} was started with other {key}; resume with the same {key}")
    write_json(out / "run.json", facts)


def predictions_text(predicted: Floats, digits: int = 4) -> str:
    """Return predictions as text, one line per example."""
    rows = (" ".join(f"{value:.{digits}f}" for value in np.atleast_1d(row)) for row in predicted)
    return "".join(f"{row}\n" for row in rows)


def versions(config: Config) -> dict[str, str]:
    """Return what results depend on: versions of packages, and torch's instruction set."""
    return {
        "bough": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
        **({name: version(name) for name in ("transformers", "tokenizers")} if config.encoder else {}),
    }
