"""The command `bough`: read arguments, call one function, show what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cyclopts import App, Group

from bough.cli import evaluating, fetching, fitting, parsing, scoring, serving, text
from bough.cli.console import run_app
from bough.cli.version import version

Commands = Mapping[str, Sequence[App | Callable[..., None]]]

# grouped as a user thinks of them; a command imports torch and everything else that is heavy when it is called
COMMANDS: Commands = {
    "Text": [text.sentiment, text.relatedness, text.nearest, scoring.score, serving.serve],
    "Your own data": [fitting.fit, evaluating.evaluate],
    "Tools": [parsing.parser, fetching.fetch],
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
