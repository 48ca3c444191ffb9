"""The command `python -m bundle`: make and measure the bundled models."""

from __future__ import annotations

from cyclopts import App

from bough.cli import Commands, grouped_app
from bundle.cli import export, parser, prepare


def build_app() -> App:
    """Return the command line."""
    commands: Commands = {
        "Models": [export.sentiment, export.relatedness, export.export, export.check, parser.parser],
        "Data": [prepare.prepare],
    }
    return grouped_app("python -m bundle", "Make and measure the models that come with bough.", commands)
