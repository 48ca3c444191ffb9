"""What torchrun starts in tests: several runs, one after another, by the same ranks; and how tests start it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import paper.train
from bough.train.torchrun import joined
from paper.train import train
from quick_runs import quick
from waiting import LIMIT


def torchrun(
    ranks: int, *command: str, restarts: int = 0, limit: float = LIMIT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`torchrun --nproc-per-node RANKS COMMAND`, with a limit of seconds: what hangs is an error."""
    return subprocess.run(
        command_line(ranks, *command, restarts=restarts),
        capture_output=True,
        text=True,
        env=surroundings(**environment),
        timeout=limit,
    )


def command_line(ranks: int, *command: str, restarts: int = 0) -> list[str]:
    """By the Python that runs the tests."""
    how = ["--standalone", f"--nproc-per-node={ranks}", f"--max-restarts={restarts}"]
    return [sys.executable, "-m", "torch.distributed.run", *how, *command]


def surroundings(**more: str) -> dict[str, str]:
    """One thread per rank, and the modules of the tests at hand."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "120", "PYTHONPATH": path, **more}


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
