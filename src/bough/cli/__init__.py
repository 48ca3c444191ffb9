"""The command `bough`: read arguments, call one function, show what it gives."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cyclopts import App, Group

import bough
from bough.cli import fitting, scoring, serving, text, tools
from bough.cli.console import run_app
from bough.version import __version__

Commands = Mapping[str, Sequence[App | Callable[..., None]]]
KERNEL = Path(bough.__file__).parent / "nn" / "kernels" / "_kernel.so"
VECTORS = {512: "AVX-512", 256: "AVX2"}

# grouped as a user thinks of them; a command imports torch and everything else that is heavy when it is called
COMMANDS: Commands = {
    "Text": [text.sentiment, text.relatedness, text.nearest, scoring.score, serving.serve],
    "Your own data": [fitting.fit, fitting.evaluate],
    "Tools": [tools.parser, tools.fetch],
}


def build_app() -> App:
    """Return the command line: the commands in their groups."""
    about = "Tree-LSTMs: a sentence turned into a scored tree, and models of your own data."
    return grouped_app("bough", about, COMMANDS)


def grouped_app(name: str, about: str, groups: Commands) -> App:
    """Return a command line whose commands stand in groups."""
    app = App(
        name=name,
        help=about,
        version=version,
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # `run_app` reports it in one line
    )
    for title, commands in groups.items():
        group = Group.create_ordered(title)
        for place, command in enumerate(commands):
            if isinstance(command, App):
                command.group, command.sort_key = group, place
                app.command(command)
            else:
                app.command(command, group=group, sort_key=place)
    options = Group.create_ordered("Options")
    for flag in ("--help", "--version"):
        app[flag].group = options
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run one command of `bough`."""
    run_app(build_app(), arguments)


def version() -> str:
    """Return the version and what computes the layers, without loading torch; see `bough.nn.kernels.why`."""
    asked = os.environ.get("BOUGH_FAST", "")
    if asked in ("0", "torch"):
        layers = f"{'torch' if asked == 'torch' else 'their equations'}, BOUGH_FAST={asked}"
    else:
        try:
            width = int(ctypes.CDLL(str(KERNEL)).bough_isa())
            layers = f"C, {VECTORS[width]}" if width in VECTORS else "torch, the CPU has no AVX2"
        except (OSError, AttributeError):
            layers = "torch, nothing compiled"
    return f"{__version__} (layers by {layers})"
