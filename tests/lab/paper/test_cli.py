"""Claims about `python -m paper train`, `evaluate` and `recipes`: what they print, and what is wrong in one line."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

import minidata
from bough.train.recipes import recipe_files
from lab_calls import lab, refused
from paper.cli import build_app, show_block
from paper.document import Cell, Table
from paper.recipes import FOLDER
from paper.train import train
from quick_runs import quick

RANDOM = "sst5-constituency-random"
MINI = "the small data folder"


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minidata.make(tmp_path_factory.mktemp("mini"), sentences=20)


def test_train_then_evaluate(mini: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    where = ("--out", str(out), "--data", str(mini))
    trained = lab("paper", "train", "sick-mean", *where, "--set", "source=own", "--set", "epochs=2")
    assert trained.returncode == 0, trained.stderr
    assert "epoch  2" in trained.stdout
    assert "Pearson's r" in trained.stdout
    written = ("--out", str(tmp_path / "said.txt"))
    said = lab("paper", "evaluate", str(out), "--json", "--data", str(mini), *written)
    figures = json.loads(said.stdout)
    assert set(figures) == {"pearson", "spearman", "mse"}
    assert figures == pytest.approx(json.loads((out / "test.json").read_text())["test"])
    assert len((tmp_path / "said.txt").read_text().splitlines()) == 10


def test_evaluate_shows_a_table_by_class(
    mini: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(quick(RANDOM), tmp_path / "run", data=mini)
    build_app()(["evaluate", str(tmp_path / "run"), "--split", "dev", "--data", str(mini)])
    assert "very negative" in capsys.readouterr().out
    build_app()(["evaluate", str(tmp_path / "run"), "--json", "--data", str(mini)])
    assert set(json.loads(capsys.readouterr().out)) == {"accuracy", "binary", "loss"}


def test_recipes_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    build_app()(["recipes"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in recipe_files(FOLDER))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "sick-dependancy"), "did you mean 'sick-dependency'"),
        (("train", RANDOM, "--set", "epoch=2"), "unknown key 'epoch'; did you mean 'epochs'?"),
        (("train", RANDOM, "--set", "epochs"), "give it as key=value"),
        (("train", RANDOM, "--data", "/no/such/folder"), "/no/such/folder"),
        (
            ("train", "sick-mean", "--data", MINI, "--set", "source=own", "--set", "vectors=7B"),
            "vectors '7B'",
        ),
        (("evaluate", "/no/such/run"), "no such file"),
        (("evaluate",), "RUN"),
        (("train", RANDOM, "--device", "abacus"), "--device abacus: "),
        (("dance",), "dance"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused("paper", *(str(mini) if word == MINI else word for word in arguments))
    assert not any((tmp_path / "runs").glob("*/*")) if (tmp_path / "runs").exists() else True


def test_vectors_of_another_length_are_one_clear_line(mini: Path, tmp_path: Path) -> None:
    vectors = tmp_path / "short.txt"
    vectors.write_text("the 0.1 0.2 0.3\ngood 0.3 0.2 0.1\n")
    out = tmp_path / "run"
    where = ("--data", str(mini), "--out", str(out))
    line = refused(
        "paper", "train", "sick-mean", *where, "--set", "source=own", "--set", f"vectors={vectors}"
    )
    assert "set embedding_size=3" in line
    assert not (out / "model.safetensors").exists()


def test_the_help_shows_no_empty_lists() -> None:
    assert "[default: []]" not in lab("paper", "reproduce", "--help").stdout


def test_a_table_fits_into_a_terminal_and_is_markdown_elsewhere() -> None:
    header = tuple(f"column number {number}" for number in range(9))
    table = Table("Table 1", header, ((Cell("heading"),), (Cell("150", "equal"),) * 9), notes=("a note",))
    for terminal in (True, False):
        text = io.StringIO()
        show_block(table, Console(file=text, width=80, force_terminal=terminal, color_system=None))
        longest = max(map(len, text.getvalue().splitlines()))
        assert (longest <= 80) == terminal
        assert ("| --- |" in text.getvalue()) != terminal
        assert "a note" in text.getvalue()
