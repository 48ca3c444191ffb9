"""The benchmark of one tree at a time."""

import numpy as np
import pytest

from benchmarks import latency
from bough import Tree


def test_every_figure_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(latency, "SIZES", (3, 5))
    result = latency.run_latency(batches=1, rounds=1)
    assert list(result["ratios"]) == ["3 nodes", "5 nodes"]
    for figures in result["microseconds"].values():
        assert all(figure > 0 for figure in figures.values())
    latency.show(result)
    assert "new tree, equations" in capsys.readouterr().out


def test_a_random_tree_is_one_tree() -> None:
    tree = Tree(latency.random_parents(30, np.random.default_rng(0)))
    assert len(tree) == 30
