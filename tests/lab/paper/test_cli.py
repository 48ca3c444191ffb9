"""Claims about `bough train`, `evaluate` and `recipes`: what they print, and one clear line when they cannot."""

import json
from pathlib import Path

import pytest

import minidata
from bough.training.recipes import recipe_names
from cli_calls import bough


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minidata.make(tmp_path_factory.mktemp("mini"), sentences=20)


def test_train_then_evaluate(mini: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    trained = bough(
        "train",
        "sick-mean",
        "--out",
        str(out),
        "--data",
        str(mini),
        "--set",
        "source=own",
        "--set",
        "epochs=2",
    )
    assert trained.returncode == 0, trained.stderr
    assert "epoch  2" in trained.stdout
    assert "Pearson r" in trained.stdout
    said = bough("evaluate", str(out), "--json", "--data", str(mini), "--out", str(tmp_path / "said.txt"))
    figures = json.loads(said.stdout)
    assert set(figures) == {"pearson", "spearman", "mse"}
    assert figures == pytest.approx(json.loads((out / "test.json").read_text())["test"])
    assert len((tmp_path / "said.txt").read_text().splitlines()) == 10


def test_evaluate_shows_a_table_by_class(tmp_path: Path) -> None:
    assert bough("train", "demo", "--out", str(tmp_path / "run"), "--set", "epochs=1").returncode == 0
    shown = bough("evaluate", str(tmp_path / "run"), "--split", "dev")
    assert "very negative" in shown.stdout
    assert set(json.loads(bough("evaluate", str(tmp_path / "run"), "--json").stdout)) == {
        "accuracy",
        "binary",
        "loss",
    }


def test_recipes_lists_them_all() -> None:
    shown = bough("recipes").stdout
    assert all(name in shown for name in recipe_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "sick-dependancy"), "did you mean 'sick-dependency'"),
        (("train", "demo", "--set", "epoch=2"), "unknown key 'epoch'; did you mean 'epochs'?"),
        (("train", "demo", "--set", "epochs"), "give it as key=value"),
        (("train", "demo", "--data", "/no/such/folder", "--set", "source=data"), "/no/such/folder"),
        (("train", "demo", "--set", "vectors=7B", "--set", "embeddings=fixed"), "vectors '7B'"),
        (("evaluate", "/no/such/run"), "no such file"),
        (("evaluate",), "RUN"),
        (("evaluate", "model", "file.csv", "--split", "dev"), "--split: only without a FILE"),
        (("evaluate", "model", "file.csv", "--data", "."), "--data: only without a FILE"),
        (("evaluate", "model", "file.csv", "--device", "cpu"), "--device: only without a FILE"),
        (("evaluate", "run", "--text", "review"), "--text: only with a FILE"),
        (("evaluate", "run", "--label", "stars"), "--label: only with a FILE"),
        (("evaluate", "run", "--parser", "spacy"), "--parser: only with a FILE"),
        (("train", "demo", "--threads", "0"), "--threads 0: at least 1"),
        (("train", "demo", "--device", "abacus"), "--device abacus: "),
        (("dance",), "dance"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = bough(*arguments)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert "Traceback" not in failed.stderr
    assert not any((tmp_path / "runs").glob("*/*")) if (tmp_path / "runs").exists() else True


def test_vectors_of_another_length_are_one_clear_line(mini: Path, tmp_path: Path) -> None:
    vectors = tmp_path / "short.txt"
    vectors.write_text("the 0.1 0.2 0.3\ngood 0.3 0.2 0.1\n")
    out = tmp_path / "run"
    failed = bough(
        *("train", "sick-mean", "--data", str(mini), "--out", str(out)),
        "--set",
        "source=own",
        "--vectors",
        str(vectors),
    )
    assert failed.returncode == 2
    assert "set dimension=3" in failed.stderr
    assert not (out / "model.safetensors").exists()
