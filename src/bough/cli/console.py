"""Lines for people on a terminal, and lines for programs."""

from __future__ import annotations

import sys

from rich.console import Console


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """One that prints texts and paths as they are: nothing in them is a code, and no line is broken."""
    return Console(stderr=stderr, quiet=quiet, soft_wrap=True, highlight=False, markup=False, emoji=False)


def complain(message: str) -> None:
    """One line on stderr."""
    plain_console(stderr=True).print(f"bough: {message}")


def say(text: str) -> None:
    """A line on standard output, in UTF-8 whatever the terminal says."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()
