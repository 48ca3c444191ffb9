"""Claims about a page with a model of one's own: its classes, its colours."""

import json
from pathlib import Path

import pytest

import bough
from bough.draw.palette import COLOURS
from bough.models.output_spec import SENTIMENT, Purpose
from bough.serve.assets import read_assets
from bough.serve.models import Draw, Models, Score
from small_fits import QUICK, examples


def test_a_fitted_model_stands_in_for_sentiment(tmp_path: Path) -> None:
    bough.fit(*examples(20), trees="none", settings=QUICK, epochs=1).save(tmp_path)
    models = Models(str(tmp_path))
    scored, drawn = models.compute([Score("A ripe fig ."), Draw("A saw .", "phrases")])
    assert isinstance(scored, bytes)
    assert isinstance(drawn, bytes)
    assert json.loads(scored)["label"] in ("fruit", "tool")
    assert (
        f'class="l{len(COLOURS)}"' in drawn.decode()
        or f'class="l{len(COLOURS) + 1}"' in drawn.decode().replace("\\", "")
    )


def test_a_model_of_pairs_stands_in_for_relatedness_and_searches() -> None:
    models = Models("relatedness-sick")
    assert models.related_by == "relatedness-sick"
    assert models.related.model.config.about == "SICK: Dependency Tree-LSTM"
    assert models.sentiment.model.purpose.classes == SENTIMENT


def test_the_page_is_told_the_classes_and_the_scale() -> None:
    told = read_assets(Purpose(classes=("bug", "question", "praise")))["classes.js"].content.decode()
    assert 'CLASSES = ["bug", "question", "praise"]' in told
    assert 'SIGNS = ["bu", "qu", "pr"]' in told
    assert "LEVELS = [5, 6, 7]" in told
    assert "RATINGS = [1.0, 5.0]" in told
    scale = read_assets(related=Purpose(ratings=(0, 10)))["classes.js"].content.decode()
    assert "RATINGS = [0.0, 10.0]" in scale
    assert ".c5{" in read_assets()["palette.css"].content.decode()


def test_a_model_of_trees_is_refused(tmp_path: Path) -> None:
    trees = [bough.Tree([-1, 0, 0], tokens=["f", f"x{i}", "y"]) for i in range(12)]
    bough.fit(trees, ["a", "b"] * 6, settings=QUICK, epochs=1).save(tmp_path)
    with pytest.raises(ValueError, match="fitted on trees"):
        Models(str(tmp_path))
