"""Claims about `python -m bundle parser`: it trains, resumes, measures, and reports an error in one line."""

import json
import subprocess
from pathlib import Path

import pytest

import minidata
from cli_calls import bough
from lab_calls import lab

SMALL = ["epochs=2", "hidden=8", "word=8", "layers=1", "span=8", "arc=8", "relation=4", "batch_tokens=100"]
TREES = [
    "(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))",
    "(ROOT (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ old))) (. .)))",
]


def parser(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m bundle parser ARGUMENTS` in any folder."""
    return lab("bundle", "parser", *arguments)


def flags(*settings: str) -> list[str]:
    return [piece for setting in settings for piece in ("--set", setting)]


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = minidata.make(tmp_path_factory.mktemp("mini"), sentences=20)
    (folder / "treebank").mkdir()
    for name, times in (("gum", 250), ("ewt-silver", 1)):
        (folder / "treebank" / f"{name}.txt").write_text("".join(f"{tree}\n" for tree in TREES * times))
    return folder


@pytest.fixture(scope="module")
def trained(mini: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "parser"
    done = parser("train", "--out", str(out), "--data", str(mini), "--own", *flags(*SMALL))
    assert done.returncode == 0, done.stderr
    assert "sentences to train on" in done.stderr
    assert "epoch 2" in done.stderr
    assert "per second of one core" in done.stdout
    return out


def test_what_train_leaves_can_be_measured_and_bundled(trained: Path, mini: Path) -> None:
    said = parser("evaluate", str(trained), "--data", str(mini), "--own", "--split", "dev", "--json")
    report = json.loads(said.stdout)
    assert report["split"] == "dev"
    assert report["sst"]["sentences"] == 20
    assert 0 <= report["sst"]["brackets"] <= 100
    assert report["gum_unseen"]["sentences"] == 50
    assert report["gum_unseen"]["relations"] is None
    last = json.loads((trained / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["epoch"] == 2
    assert last["dev_sick"]["sentences"] == 20
    assert "python -m bundle parser evaluate" in (trained / "README.md").read_text()


@pytest.mark.slow
def test_a_parser_learns_from_silver_text(trained: Path, mini: Path, tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.txt", tmp_path / "silver.jsonl"
    texts.write_text("The oak bends in the wind. It is old now.\nThe oak is very old.\n")
    two = ["--parser", str(trained), "--other", str(trained)]
    made = bough("parser", "silver", str(texts), "--out", str(out), *two)
    assert made.returncode == 0, made.stderr
    settings = flags(*SMALL, f"silver={out}", "silver_share=1")
    run = parser("train", "--out", str(tmp_path / "run"), "--data", str(mini), "--own", *settings)
    assert run.returncode == 0, run.stderr
    card = (tmp_path / "run" / "README.md").read_text()
    assert "`silver.jsonl` of `bough parser silver`" in card
    assert str(tmp_path) not in card.partition("## Made by")[0]


@pytest.mark.slow
def test_a_parser_that_has_seen_all_of_gum_is_not_measured_on_it(trained: Path, mini: Path) -> None:
    shown = [
        parser("evaluate", *folder, "--data", str(mini), "--own", "--split", "dev").stdout
        for folder in ([], [str(trained)])
    ]
    assert ["GUM" in table for table in shown] == [False, True]


def test_a_run_is_not_overwritten(trained: Path, mini: Path) -> None:
    again = parser("train", "--out", str(trained), "--data", str(mini), "--set", "hidden=8")
    assert again.returncode == 2
    assert again.stderr.splitlines()[-1].endswith("already holds a run; continue it with --resume")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train",), "--out"),
        (("train", "--out", "run", "--set", "epoch=2"), "unknown key 'epoch'; did you mean 'epochs'?"),
        (("train", "--out", "run", "--set", "epochs"), "give it as key=value"),
        (("train", "--out", "run", "--data", "/no/such/folder"), "/no/such/folder"),
        (("evaluate", "/no/such/parser"), "/no/such/parser/config.json: no such file"),
        (("evaluate", "--split", "holdout"), "holdout"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = parser(*arguments)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
