"""`python -m benchmarks NAME ...`: run one benchmark; `--help` after its name lists its options."""

from cyclopts import App

from benchmarks.entailment import entailment
from benchmarks.latency import latency
from benchmarks.listops import listops
from benchmarks.load import load
from benchmarks.logic import logic
from benchmarks.plans import plans
from benchmarks.ports import ports
from benchmarks.scaling import scaling
from benchmarks.scaling_scoring import scaling_scoring
from benchmarks.speed import speed
from benchmarks.stars import stars
from benchmarks.texts import texts
from bough.cli import Commands, grouped_app
from bough.cli.console import run_app


def build_app() -> App:
    # cyclopts would name it with a hyphen
    scoring = App(name="scaling_scoring", default_command=scaling_scoring)
    commands: Commands = {
        "Speed": [speed, latency, ports, scaling, scoring, load],
        "Tree tasks": [listops, logic, entailment, plans, texts, stars],
    }
    return grouped_app("python -m benchmarks", "Measure speed, and accuracy on tasks with trees.", commands)


if __name__ == "__main__":
    run_app(build_app())
