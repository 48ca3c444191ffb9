"""`bough serve` in a process of its own, as a user starts it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from waiting import LIMIT


@contextmanager
def running(*arguments: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """`bough serve` on a free port: its address and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bough", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[1], process
    finally:
        process.terminate()
        process.wait(LIMIT)
        process.stdout.close()
