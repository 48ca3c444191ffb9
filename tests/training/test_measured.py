"""Claims about runs of feature systems: a folder like any other run's, the same for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bough.errors import TrainingError
from bough.model.config import Config
from bough.training.evaluate import evaluate
from bough.training.recipes import load_recipe, recipe_names
from bough.training.train import train

RECIPES = [name for name in recipe_names() if load_recipe(name).system]
FILES = ("run.json", "test.json", "predictions.txt", "system.json", "measures.safetensors", "README.md")


@pytest.fixture
def wordnet(data: Path) -> Path:
    if not (data / "wordnet").is_dir():
        pytest.skip("needs WordNet 3.0 as DATA/wordnet")
    return data


def small(name: str) -> Config:
    return load_recipe(name).with_settings({"source": "own", "limit": "120"})


@pytest.mark.parametrize("name", RECIPES)
def test_a_feature_system_leaves_a_run_like_any_other(name: str, wordnet: Path, tmp_path: Path) -> None:
    results = [train(small(name), tmp_path / run, seed=2, data=wordnet, recipe=name) for run in "ab"]
    assert results[0] == results[1] == json.loads((tmp_path / "a" / "test.json").read_text())
    for file in FILES:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
    assert evaluate(tmp_path / "a", data=wordnet).figures == pytest.approx(results[0]["test"])
    assert evaluate(tmp_path / "a", "dev", data=wordnet).figures == pytest.approx(results[0]["dev"])
    assert len(np.loadtxt(tmp_path / "a" / "predictions.txt")) == 120
    assert train(small(name), tmp_path / "a", seed=2, data=wordnet, recipe=name, resume=True) == results[0]
    with pytest.raises(TrainingError, match="another seed"):
        train(small(name), tmp_path / "a", seed=3, data=wordnet, recipe=name, resume=True)


def test_an_unknown_system_is_named_with_the_nearest(mini: Path, tmp_path: Path) -> None:
    config = Config().with_settings({"task": "sick", "source": "own", "system": "ecmu"})
    with pytest.raises(ValueError, match=r"system = 'ecmu': one of .* did you mean 'ecnu'"):
        train(config, tmp_path, data=mini)
    with pytest.raises(ValueError, match="system = 'ecnu' is for task = 'sick'"):
        Config().with_settings({"system": "ecnu"})
