"""The folder of a training run: it belongs to one run, which may be resumed in it."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.errors import TrainingError
from bough.files import partial_files, read_json, remove_partial, write_json
from bough.models.config import Config
from bough.train.tasks import Floats
from bough.version import __version__


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
