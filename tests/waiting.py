"""Waiting for a condition instead of for a time, so that a busy machine fails no test."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

LIMIT = 600.0  # seconds until what has not happened counts as hanging


def wait_until(condition: Callable[[], object], process: "subprocess.Popen[Any] | None" = None) -> None:
    """Return once `condition()` is true. Fail after LIMIT seconds, or if `process` ends before."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert process is None or process.poll() is None, "the process ended before the condition held"
        assert time.monotonic() < deadline, f"nothing happened in {LIMIT:.0f} seconds"
        time.sleep(0.005)
