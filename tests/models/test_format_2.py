"""A model folder of format 2 loads, and predicts what the version that wrote it predicted."""

import json
from pathlib import Path

import pytest

import bough
from bough.models.model import Model

EXACT = {"label", "labels", "polarity"}  # the other keys are numbers
FOLDERS = sorted((Path(__file__).parent / "format2").iterdir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_of_format_2_predicts_the_same(folder: Path) -> None:
    assert json.loads((folder / "config.json").read_text())["format"] == 2
    pipeline = bough.load(folder)
    stored = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    assert len(stored) == 10
    for expected in stored:
        item = expected.pop("item")
        if "polarity" in expected:  # the score was the expected class; now it is P(positive) - P(negative)
            p = expected["probabilities"]
            signs = {"negative": -1, "neutral": 0, "positive": 1}
            expected["score"] = sum(signs[name.split()[-1]] * p[name] for name in p)
        result = pipeline(*item) if isinstance(item, list) else pipeline(item)
        for key, value in expected.items():
            assert getattr(result, key) == (value if key in EXACT else pytest.approx(value, abs=1e-6)), key


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_of_format_2_is_saved_in_format_3(folder: Path, tmp_path: Path) -> None:
    model = Model.load(folder)
    model.save(tmp_path, card="")
    assert json.loads((tmp_path / "config.json").read_text())["format"] == 3
    again = Model.load(tmp_path)
    assert (again.config, again.output, again.trees) == (model.config, model.output, "chain")
