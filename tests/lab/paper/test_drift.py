"""The draws of every recipe of the paper that trains: a tiny run has the pinned weights, batches and losses."""

from pathlib import Path
from typing import Any

import pytest

import minidata
from bough.train.recipes import recipe_files
from drift import Trace, assert_pinned, traced
from paper.recipes import FOLDER
from paper.train import train
from quick_runs import quick, recipe_of

TRAINED = [n for n in recipe_files(FOLDER) if not (recipe_of(n).system or recipe_of(n).encoder)]
SMALL: dict[str, Any] = {"max_examples": 12, "batch_size": 5, "hidden_size": 4}


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minidata.make(tmp_path_factory.mktemp("treebank"), sentences=24)


@pytest.mark.parametrize("name", TRAINED)
def test_a_recipe_draws_as_it_did(name: str, treebank: Path, tmp_path: Path, pin: bool) -> None:
    config = quick(name).with_settings(SMALL)
    with traced() as trace:
        train(config, tmp_path, seed=3, data=treebank, recipe=name)
    assert_pinned(f"paper {name}", trace, pin)


@pytest.mark.parametrize("name", [name for name in recipe_files(FOLDER) if recipe_of(name).system])
def test_a_system_without_a_network_draws_as_it_did(name: str, mini: Path, tmp_path: Path, pin: bool) -> None:
    config = recipe_of(name).with_settings({"source": "own", "vectors": "auto", "epochs": 2})
    figures = train(config, tmp_path, seed=3, data=mini, recipe=name)["test"]
    # the probabilities of Paragraph-Vec are computed in float32
    assert_pinned(
        f"paper {name}", Trace(losses=[figures[key] for key in sorted(figures) if key != "loss"]), pin
    )
