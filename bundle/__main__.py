"""Run `python -m bundle`."""

from bough.cli.console import run_app
from bundle.cli import build_app

if __name__ == "__main__":
    run_app(build_app())
