"""Calling the laboratory's commands, `python -m paper` and the like, in a process of its own and from any folder."""

import contextlib
import importlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bough.cli.console import run_app
from waiting import LIMIT

ROOT = Path(__file__).parents[1]


def command_of(package: str, *arguments: str) -> list[str]:
    """By the Python that runs the tests."""
    return [sys.executable, "-m", package, *arguments]


def surroundings(**more: str) -> dict[str, str]:
    """The environment with one thread, and with the checkout at hand."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "120", "PYTHONPATH": path, **more}


def lab(package: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m PACKAGE ARGUMENTS` and give what it printed and its exit code."""
    return subprocess.run(
        command_of(package, *arguments),
        capture_output=True,
        text=True,
        env=surroundings(**environment),
        timeout=LIMIT,
    )


def refused(package: str, *arguments: str) -> str:
    """Run a command in this process that has to end with exit code 2; return its one line on stderr."""
    app, stderr = importlib.import_module(f"{package}.cli").build_app(), io.StringIO()
    with contextlib.redirect_stderr(stderr), pytest.raises(SystemExit) as ended:
        run_app(app, list(arguments))
    assert ended.value.code == 2
    [line] = stderr.getvalue().splitlines()
    return line
