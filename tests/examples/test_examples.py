"""Claims about the examples: each runs as it stands and learns something."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "figure", "least"),
    [
        ("programs", r"accuracy on the \d+ held out: ([\d.]+)", 0.5),
        ("dependencies", r"test: ([\d.]+) of the sentences", 0.5),
        ("pairs", r"Pearson's r on \d+ pairs held out: ([\d.]+)", 0.8),
        ("entailment", r"accuracy on the \d+ held out: ([\d.]+)", 0.8),
        ("tree_gru", r"accuracy on the \d+ held out: ([\d.]+)", 0.5),
        ("reviews_csv", r"accuracy on the rows held out: ([\d.]+)", 0.9),
        ("scoring_pandas", r"rank correlation with the stars: ([\d.]+)", 0.9),
        ("listops", r"accuracy on the \d+ held out: ([\d.]+)", 0.9),
        ("query_plans", r"rank correlation on the \d+ held out: ([\d.]+)", 0.8),
        ("formulas", r"accuracy on the \d+ held out: ([\d.]+)", 0.9),
        ("tree_decoder", r"well-formed programs of 500 sampled: ([\d.]+)", 0.85),
    ],
)
def test_an_example_runs_and_learns(
    name: str, figure: str, least: float, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    output = capsys.readouterr().out
    found = re.search(figure, output)
    assert found, output
    assert float(found[1]) > least


@pytest.mark.slow
def test_settings_are_searched_with_ray_tune() -> None:
    pytest.importorskip("ray.tune")
    call = [sys.executable, str(EXAMPLES / "ray_tune.py")]
    # a cluster of its own: another test's may run on this machine, and end before this one does
    own = {**os.environ, "RAY_ADDRESS": "local"}
    done = subprocess.run(call, capture_output=True, text=True, timeout=600, env=own)
    assert done.returncode == 0, done.stderr
    found = re.search(r"accuracy on the \d+ held out: ([\d.]+)", done.stdout)
    assert found, done.stdout
    assert float(found[1]) > 0.4
