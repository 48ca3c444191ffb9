"""Claims about `bundle.export`: from a run to a bundled model that says what it may be used for."""

from pathlib import Path

import pytest

import minidata
from bough.pipelines import MODELS, NAMES, Pipeline, load
from bundle.card import LICENSE
from bundle.check import sentiment_metrics
from bundle.config import load_recipe
from bundle.export import export_run
from bundle.opinions import Opinion
from paper.recipes import load_recipe as load_paper_recipe
from paper.train import train


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minidata.make(tmp_path_factory.mktemp("mini"), sentences=20)


def test_a_run_of_sentiment_is_compressed_and_loads(mini: Path, tmp_path: Path) -> None:
    small = {"source": "own", "epochs": 1, "hidden_size": 8, "vectors": "6B"}
    train(load_recipe("sentiment").with_settings(small), tmp_path / "run", data=mini, recipe="sentiment")
    model, vectors = export_run(tmp_path / "run", data=mini, columns=12)
    assert vectors.startswith("glove.6B")
    model.save(tmp_path / "m", card="A card.", facts={"license": LICENSE})
    pipeline = load(tmp_path / "m")
    assert isinstance(pipeline, Pipeline)
    assert pipeline.model.config.embedding_size == 12
    assert pipeline.license == LICENSE
    assert pipeline("A fine day.").label in pipeline.classes


def test_another_run_is_refused(mini: Path, tmp_path: Path) -> None:
    small = {"source": "own", "epochs": 1, "hidden_size": 8}
    config = load_paper_recipe("sick-dependency").with_settings(small)
    train(config, tmp_path / "run", data=mini, recipe="sick-dependency")
    with pytest.raises(ValueError, match="a run of 'sick'"):
        export_run(tmp_path / "run", data=mini)


def test_neutral_is_wrong_for_a_polar_text_and_sums_of_classes_choose() -> None:
    opinions = [Opinion("a", "negative"), Opinion("b", "positive"), Opinion("c", "neutral")]
    sure, split = [0.0, 0.0, 0.0, 1.0, 0.0], [0.3, 0.3, 0.4, 0.0, 0.0]
    found = sentiment_metrics(np_rows([split, sure, [0, 0, 1.0, 0, 0]]), opinions)
    assert found["accuracy"] == found["polar"] == 100
    assert found["polar, largest class"] == 50
    assert found["binary"] == 100


def np_rows(rows: list[list[float]]):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.array(rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_bundled_models_say_what_they_may_be_used_for(name: str) -> None:
    pipeline = load(MODELS / name)
    assert pipeline.license == LICENSE
    assert all(one["name"] and one["terms"] and one["use"] for one in pipeline.facts["data"])
    assert all(one["name"] in pipeline.card for one in pipeline.facts["data"])
    assert not any("NC" in one["terms"] or "research" in one["terms"] for one in pipeline.facts["data"])
