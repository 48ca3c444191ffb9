"""Claims about `bundle.export`: from a run to a shipped model, measured on the way."""

import json
from pathlib import Path

import pytest

import minidata
from bough.models.bundled import load_model
from bough.pipelines import load
from bundle.export import export_run, score_text, score_trees
from lab_calls import lab
from paper.train import train
from quick_runs import recipe_of

NAMED = {
    "sick-dependency": "relatedness-sick",
    "relatedness": "relatedness",
}  # what a run of a recipe becomes


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minidata.make(tmp_path_factory.mktemp("mini"), sentences=20)


@pytest.fixture(
    scope="module", params=["sst5-constituency-tuned", "sick-dependency", "sentiment", "relatedness"]
)
def run(request: pytest.FixtureRequest, mini: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("run") / str(request.param)
    small = {"source": "own", "epochs": 1, "hidden_size": 8, "vectors": "6B"}
    train(recipe_of(request.param).with_settings(small), out, data=mini, recipe=request.param)
    return out


def test_a_run_ships_and_loads(run: Path, mini: Path, tmp_path: Path) -> None:
    name = NAMED.get(run.name, "sentiment")
    facts = export_run(run, name, tmp_path / "m", data=mini, columns=12)
    model = load_model(tmp_path / "m")
    assert model.config.embedding_size == facts["columns"] == 12
    assert len(model.words) == facts["words"]
    assert set(facts["scores"]) == {"dev", "test"}
    assert set(facts["scores"]["test"]) == {"trained", "folded", "shipped", "text"}
    assert facts["scores"]["test"]["shipped"] == pytest.approx(score_trees(model, data=mini, check=False))
    assert facts["scores"]["test"]["text"] == pytest.approx(score_text(model, data=mini, check=False))
    card = (tmp_path / "m" / "README.md").read_text()
    assert "on plain text parsed by `builtin`" in card
    pipeline = load(tmp_path / "m")
    assert type(pipeline).__name__ == (
        "RelatednessPipeline" if name in NAMED.values() else "SentimentPipeline"
    )
    said = lab("bundle", "check", str(tmp_path / "m"), "--json", "--own", "--data", str(mini))
    assert json.loads(said.stdout)["test"]["text"] == pytest.approx(facts["scores"]["test"]["text"])


def test_a_run_of_the_other_task_is_refused(run: Path, mini: Path, tmp_path: Path) -> None:
    wrong = "sentiment" if run.name in NAMED else "relatedness"
    with pytest.raises(ValueError, match=f"not for {wrong}"):
        export_run(run, wrong, tmp_path / "m", data=mini)
    assert not (tmp_path / "m").exists()


def test_without_a_name_nothing_is_made(run: Path) -> None:
    failed = lab("bundle", "export", str(run))
    assert failed.returncode == 2
    assert "--name" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "figure", "least"),
    [
        ("sentiment", "accuracy", 0.48),
        ("relatedness", "pearson", 0.85),
        ("relatedness-sick", "pearson", 0.85),
    ],
)
def test_the_shipped_models_keep_their_word(name: str, figure: str, least: float, data: Path) -> None:
    from bough.pipelines import MODELS

    model = load_model(MODELS / name)
    gold, text = score_trees(model, data=data)[figure], score_text(model, data=data)[figure]
    assert gold >= least
    assert text >= gold - 0.01
