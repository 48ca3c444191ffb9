"""Claims about runs of feature systems: a folder like any other run's, the same for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bough.errors import TrainingError
from bough.train.recipes import recipe_files
from paper.config import PaperConfig
from paper.evaluate import evaluate
from paper.recipes import FOLDER, load_recipe
from paper.train import train

RECIPES = [name for name in recipe_files(FOLDER) if load_recipe(name).system]
FILES = ("run.json", "test.json", "predictions.txt", "README.md")


@pytest.fixture
def wordnet(data: Path) -> Path:
    if not (data / "wordnet").is_dir():
        pytest.skip("needs WordNet 3.0 as DATA/wordnet")
    return data


def small(name: str) -> PaperConfig:
    return load_recipe(name).with_settings({"source": "own", "max_examples": "40"})


@pytest.mark.parametrize("name", RECIPES)
def test_a_feature_system_leaves_a_run_like_any_other(name: str, wordnet: Path, tmp_path: Path) -> None:
    result = train(small(name), tmp_path, seed=2, data=wordnet, recipe=name)
    assert result == json.loads((tmp_path / "test.json").read_text())
    assert {*FILES, "timing.json"} == {path.name for path in tmp_path.iterdir()}
    assert evaluate(tmp_path, data=wordnet).figures == pytest.approx(result["test"])
    assert len(np.loadtxt(tmp_path / "predictions.txt")) == 40
    assert train(small(name), tmp_path, seed=2, data=wordnet, recipe=name, resume=True) == result
    with pytest.raises(TrainingError, match="another seed"):
        train(small(name), tmp_path, seed=3, data=wordnet, recipe=name, resume=True)


@pytest.mark.parametrize("name", ["sick-unal-nlp", "sst5-paragraph-vec"])
def test_the_same_seed_gives_the_same_bytes(name: str, wordnet: Path, tmp_path: Path) -> None:
    for run in "ab":
        train(small(name), tmp_path / run, seed=2, data=wordnet)
    for file in FILES:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_an_unknown_system_is_named_with_the_nearest(mini: Path, tmp_path: Path) -> None:
    config = PaperConfig().with_settings({"task": "sick", "source": "own", "system": "ecmu"})
    with pytest.raises(ValueError, match=r"system = 'ecmu': one of .* did you mean 'ecnu'"):
        train(config, tmp_path, data=mini)
    config = PaperConfig().with_settings({"system": "ecnu", "source": "own"})
    with pytest.raises(ValueError, match="system = 'ecnu': one of 'paragraph-vec'"):
        train(config, tmp_path / "sst", data=mini)
    with pytest.raises(ValueError, match="task = 'classes': one of 'sst5', 'sst2', 'sick'"):
        PaperConfig().with_settings({"system": "ecnu", "task": "classes"})
