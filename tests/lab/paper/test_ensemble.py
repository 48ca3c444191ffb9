"""Claims about seeds that stand together: their probabilities are averaged, and the row says how many there are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paper.plan import OURS, TOGETHER, Run
from paper.recipes import load_recipe
from paper.results import (
    TOGETHER_NAME,
    from_summary,
    keeps_predictions,
    packed,
    summary,
    systems,
    with_ensembles,
)
from paper.tables import spread, table2
from paper.tasks import sentiment_figures

NAME = next(iter(TOGETHER))
RECIPE = f"sst5-{NAME}"


@pytest.fixture
def own_data(mini: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small data folder, in place of SST."""
    recipe = load_recipe(RECIPE).with_settings({"source": "own"})
    monkeypatch.setattr("paper.results.load_recipe", lambda name: recipe)
    return mini


def gold(data: Path) -> Any:
    task = load_recipe(RECIPE).with_settings({"source": "own"}).build_task(data)
    return np.array([tree.labels[tree.root] for tree in task.read("test")])


def result(seed: int, predicted: Any) -> dict[str, Any]:
    fields = {
        "system": RECIPE,
        "recipe": RECIPE,
        "settings": {},
        "seed": seed,
        "vectors": "v",
        "seconds": 1.0,
        "versions": {"bough": "0.4.0"},
    }
    return {
        **fields,
        "test": {"accuracy": 0.5, "binary": 0.5},
        "by_length": {},
        "predictions": packed(predicted),
    }


def test_the_figures_are_those_of_the_mean(own_data: Path) -> None:
    labels = gold(own_data)
    rng = np.random.default_rng(0)
    parts = [rng.dirichlet(np.ones(5), size=len(labels)) for _ in range(3)]
    results = [result(seed, part) for seed, part in enumerate(parts)]
    found = with_ensembles(systems(results), results, own_data)[RECIPE + TOGETHER_NAME].figures
    expected = sentiment_figures(np.mean(parts, axis=0), labels, load_recipe(RECIPE))
    assert {name: value for name, (value,) in found.items()} == pytest.approx(expected, abs=1e-3)


def test_seeds_that_err_apart_are_right_together(own_data: Path) -> None:
    labels = gold(own_data)
    right = np.eye(5)[labels]
    results = []
    for seed in range(3):
        p = 0.6 * right + 0.4 / 5
        wrong = np.arange(len(labels)) % 3 == seed
        p[wrong] = 0.5 * np.eye(5)[(labels[wrong] + 1) % 5] + 0.5 / 5
        results.append(result(seed, p))
    found = with_ensembles(systems(results), results, own_data)
    ensemble = found[RECIPE + TOGETHER_NAME]
    assert ensemble.figures["accuracy"] == [1.0]
    assert spread(ensemble, "accuracy") == "100.0 (3 together)"
    assert from_summary(summary(found))[RECIPE + TOGETHER_NAME].together == 3
    rows = [[cell.text for cell in row] for row in table2(found).rows]
    assert [row[1] for row in rows if row[0] == TOGETHER[NAME]] == ["100.0 (3 together)"]


def test_one_seed_alone_is_not_together(own_data: Path) -> None:
    results = [result(1, np.eye(5)[gold(own_data)])]
    assert [*with_ensembles(systems(results), results, own_data)] == [RECIPE]


def test_only_rows_that_stand_together_keep_their_predictions() -> None:
    assert keeps_predictions(Run(RECIPE, 100))
    assert not keeps_predictions(Run("sst5-lstm", 1))
    assert not keeps_predictions(Run(RECIPE, 100, (("hidden", "300"),)))
    assert {*TOGETHER} <= {*OURS}
