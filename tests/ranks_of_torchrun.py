"""What torchrun starts in tests: several runs of the paper, one after another, by the same ranks."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import paper.train
from bough.train.distributed import joined
from paper.train import train
from quick_runs import quick


def train_all(runs: Mapping[str, Sequence[Any]], data: Path, out: Path) -> None:
    """One run per name: a recipe and settings over it, of which "double" stands for numbers of 64 bits."""
    for name, (recipe, settings) in runs.items():
        own = {key: value for key, value in settings.items() if key != "double"}
        with _double() if "double" in settings else nullcontext():
            train(quick(recipe).with_settings(own), out / name, data=data)


def _double() -> Any:
    new = paper.train._new_model
    return patch("paper.train._new_model", lambda *given: new(*given).double())


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    with joined():
        train_all(json.loads(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
    threads = {path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")}
    left = [name for name in threads if "gloo" in name]
    assert not left, f"threads of the process group outlive it, and may abort Python at its end: {left}"
