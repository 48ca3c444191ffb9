"""The command `bough`: read arguments, call one function, show what it gives."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from cyclopts import App, CycloptsError, Group

from bough.cli import (
    benching,
    fetching,
    fitting,
    parsing,
    preparing,
    reproducing,
    scoring,
    serving,
    shipping,
    text,
    training,
    tuning,
)
from bough.cli.console import complain
from bough.cli.version import version

# as a person thinks of them; a command imports torch, and all else that is heavy, when it is called
COMMANDS: dict[str, list[App | Callable[..., None]]] = {
    "Text": [text.sentiment, text.relatedness, text.nearest, scoring.score, serving.serve],
    "Your own data": [fitting.fit, training.train, tuning.tune, training.evaluate, training.recipes],
    "The paper": [reproducing.reproduce, fetching.fetch, preparing.prepare],
    "Tools": [benching.bench, parsing.parser, shipping.ship],
}


def build_app() -> App:
    """The command line: the commands in their groups."""
    app = App(
        name="bough",
        version=version,
        help="Tree-LSTMs: the paper's systems, trained and measured; a sentence turned into a scored tree.",
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # `main` says so, in a line
    )
    for name, commands in COMMANDS.items():
        group = Group.create_ordered(name)
        for place, command in enumerate(commands):
            if isinstance(command, App):
                command.group, command.sort_key = group, place
                app.command(command)
            else:
                app.command(command, group=group, sort_key=place)
    app["--help"].group = app["--version"].group = Group.create_ordered("Options")
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
