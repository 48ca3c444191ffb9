"""Calling torchrun as a user would, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
