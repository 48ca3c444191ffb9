"""The folder of a run: taken by one run only, and by the same one again to go on."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.errors import TrainingError
from bough.files import read_json, remove_torn, torn_files, write_json
from bough.models.config import Config
from bough.train.tasks import Floats
from bough.version import __version__


def claim(out: Path, run: dict[str, Any], resume: bool) -> None:
    """Take a folder for a run. A folder in use is taken only to continue the same run."""
    torn = torn_files(out)
    if out.exists() and {*out.iterdir()} > {*torn}:
        if not resume:
            raise TrainingError(f"{out} is not empty; continue it with --resume, or choose another --out")
        before = read_json(out / "run.json")
        for key, value in run.items():
            if before.get(key) != value:
                raise TrainingError(f"{out} was trained with another {key}; --resume needs the same command")
    remove_torn(out)


def claim_data(out: Path, facts: dict[str, Any]) -> None:
    """Record what a run is made of; it goes on with the data and vectors it began with, or not at all."""
    if (out / "run.json").exists():
        before = read_json(out / "run.json")
        for key in ("data", "vectors", "coverage", "encoder"):
            if before.get(key, facts.get(key)) != facts.get(key):
                raise TrainingError(f"{out} was started with other {key}; --resume needs the same")
    write_json(out / "run.json", facts)


def predictions_text(predicted: Floats) -> str:
    """One line per example."""
    return "".join(" ".join(f"{value:.4f}" for value in np.atleast_1d(row)) + "\n" for row in predicted)


def versions(config: Config) -> dict[str, str]:
    """Name what the numbers depend on: packages, and the instruction set that torch uses on this CPU."""
    return {
        "bough": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
        **({name: version(name) for name in ("transformers", "tokenizers")} if config.encoder else {}),
    }
