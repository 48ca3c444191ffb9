"""Calling the command as a user would, in a process of its own or in this one."""

import contextlib
import io
import logging
import os
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

from bough.cli import main
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


def bough_here(*arguments: str) -> SimpleNamespace:
    """Run `bough ARGUMENTS` in this process, which saves its start."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    out, err = streams
    log, code = logging.getLogger("bough"), 0
    level = log.level
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, {"COLUMNS": "120"}),
    ):
        try:
            main(list(arguments))
        except SystemExit as stop:
            code = int(str(stop.code))
        finally:
            log.setLevel(level)
    printed = [stream.buffer.getvalue().decode() for stream in streams]
    return SimpleNamespace(returncode=code, stdout=printed[0], stderr=printed[1])
