"""Calling the command as a user would, in a process of its own."""

import os
import subprocess
import sys

from waiting import LIMIT


def bough(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `bough ARGUMENTS` and give what it printed and its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "bough", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "120", **environment},
        timeout=LIMIT,
    )
