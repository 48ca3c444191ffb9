"""The command `bough`: read arguments, call one function, show its result."""

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cyclopts import App, Group

import bough
from bough.cli import fitting, text, tools
from bough.cli.console import run_app
from bough.version import __version__

Commands = Mapping[str, Sequence[App | Callable[..., None]]]
KERNEL = Path(bough.__file__).parent / "nn" / "kernels" / "_kernel.so"
VECTORS = {512: "AVX-512", 256: "AVX2", 128: "vectors of 4 floats"}

# in the order of the help; to start fast, a command imports large packages when it is called
COMMANDS: Commands = {
    "Text": [text.sentiment, text.relatedness, text.nearest, text.parse, text.score, text.serve],
    "Your own data": [fitting.fit, fitting.evaluate, text.predict],
    "Tools": [tools.parser, tools.fetch],
}

# arguments that cyclopts would show as [ARGS...], because they are optional for it or any number
USAGE = {
    "bough sentiment": "TEXT...",
    "bough predict": "TEXT... --model FOLDER",
    "bough parse": "TEXT...",
    "bough score": "FILE...",
    "bough evaluate": "MODEL FILE",
    "python -m paper fetch": "[sst] [sick] [glove] [wordnet]",
}


def build_app() -> App:
    """Return the command line of bough."""
    about = "Tree-LSTMs: turn sentences into scored trees, and fit models to your own data."
    return grouped_app("bough", about, COMMANDS)


def grouped_app(name: str, about: str, groups: Commands) -> App:
    """Return a command line whose help lists the commands in groups."""
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
                typed = f"{name} {command.__name__}"
                usage = f"Usage: {typed} {USAGE[typed]} [OPTIONS]" if typed in USAGE else None
                app.command(command, group=group, sort_key=place, usage=usage)
    options = Group.create_ordered("Options")
    for flag in ("--help", "--version"):
        app[flag].group = options
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run one command of `bough`."""
    run_app(build_app(), arguments)


def version() -> str:
    """Return the version and how layers are computed (see `bough.nn.kernels.why`), without torch."""
    layers = "their equations, BOUGH_FAST=0"
    if os.environ.get("BOUGH_FAST") != "0":
        try:
            layers = f"C, {VECTORS[ctypes.CDLL(str(KERNEL)).bough_isa()]}"
        except (OSError, AttributeError):
            layers = "their equations, nothing compiled"
    return f"{__version__} (layers by {layers})"
