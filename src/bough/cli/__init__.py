"""The command `bough`: read arguments, call one function, show what it gives."""

from __future__ import annotations

import logging
import sys

from cyclopts import App, CycloptsError
from rich.console import Console

import bough

COMMANDS = {  # each imported when it is called, so that every command starts as fast as it can
    "sentiment": "text",
    "relatedness": "text",
    "nearest": "text",
    "score": "scoring",
    "prepare": "preparing",
    "ship": "shipping",
    "parser": "parsing",
    "train": "training",
    "evaluate": "training",
    "recipes": "training",
    "fetch": "fetching",
    "bench": "benching",
    "reproduce": "reproducing",
    "serve": "serving",
}


def build_app() -> App:
    """The command line: one command a line of `COMMANDS`."""
    app = App(
        name="bough",
        version=bough.__version__,
        help="Tree-LSTMs: the paper's systems, trained and measured; a sentence turned into a scored tree.",
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # `main` says so, in a line
    )
    for name, module in COMMANDS.items():
        app.command(f"bough.cli.{module}:{name}", name=name)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run one command; what is wrong with the input is one line on stderr and exit code 2."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        build_app()(arguments, exit_on_error=False, print_error=False)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except (CycloptsError, ValueError, OSError) as error:
        complain(" ".join(str(error).split()))
        sys.exit(2)


def complain(message: str) -> None:
    """One line on stderr."""
    plain_console(stderr=True).print(f"bough: {message}")


def plain_console(*, stderr: bool = False) -> Console:
    """One that prints texts and paths as they are: nothing in them is a code, and no line is broken."""
    return Console(stderr=stderr, soft_wrap=True, highlight=False, markup=False, emoji=False)
