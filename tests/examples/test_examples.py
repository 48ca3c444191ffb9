"""Claims about the examples: each runs as it stands and learns something."""

import os
import re
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
        ("tree_gru", r"accuracy on the \d+ held out: ([\d.]+)", 0.5),
        ("reviews_csv", r"accuracy on the rows held out: ([\d.]+)", 0.9),
        ("scoring_pandas", r"rank correlation with the stars: ([\d.]+)", 0.9),
        ("ray_tune", r"accuracy on the \d+ held out: ([\d.]+)", 0.4),
    ],
)
def test_an_example_runs_and_learns(name: str, figure: str, least: float) -> None:
    if name == "ray_tune":
        pytest.importorskip("ray.tune")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(figure, done.stdout)
    assert found, done.stdout
    assert float(found[1]) > least
