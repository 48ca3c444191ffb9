"""The command `python -m paper`: the reproduction of the paper."""

from __future__ import annotations

from cyclopts import App

from bough.cli import Commands, grouped_app
from paper.cli import fetch, prepare, reproduce, train


def build_app() -> App:
    """Return the command line."""
    commands: Commands = {
        "Systems": [train.train, train.evaluate, train.recipes],
        "The whole paper": [reproduce.reproduce],
        "Data": [fetch.fetch, prepare.prepare],
    }
    return grouped_app("python -m paper", "Reproduce the paper: every row, figure and claim.", commands)
