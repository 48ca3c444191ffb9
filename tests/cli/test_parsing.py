"""Claims about `bough parser`: it trains, goes on after a stop, measures, and says in one line what is wrong."""

import json
from pathlib import Path

import pytest

import minidata
from cli_calls import bough

SMALL = ["epochs=2", "hidden=8", "word=8", "layers=1", "span=8", "arc=8", "relation=4", "batch_tokens=100"]
TREES = [
    "(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))",
    "(ROOT (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ old))) (. .)))",
]


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
    settings = [piece for setting in SMALL for piece in ("--set", setting)]
    done = bough("parser", "train", "--out", str(out), "--data", str(mini), "--own", *settings)
    assert done.returncode == 0, done.stderr
    assert "epoch 2" in done.stderr
    assert "per second of one core" in done.stdout
    return out


def test_what_train_leaves_can_be_measured_and_shipped(trained: Path, mini: Path) -> None:
    said = bough("parser", "evaluate", str(trained), "--data", str(mini), "--own", "--split", "dev", "--json")
    report = json.loads(said.stdout)
    assert report["split"] == "dev"
    assert report["sst"]["sentences"] == 20
    assert 0 <= report["sst"]["brackets"] <= 100
    assert report["gum_unseen"]["sentences"] == 50
    assert report["gum_unseen"]["relations"] is None
    last = json.loads((trained / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["epoch"] == 2
    assert "bough parser evaluate" in (trained / "README.md").read_text()


def test_a_parser_learns_from_silver_text(trained: Path, mini: Path, tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.txt", tmp_path / "silver.jsonl"
    texts.write_text("The oak bends in the wind. It is old now.\nThe oak is very old.\n")
    made = bough(
        "parser", "silver", str(texts), "--out", str(out), "--parser", str(trained), "--other", str(trained)
    )
    assert made.returncode == 0, made.stderr
    assert "3 sentences; the parsers agree on 100.0% of the arcs" in made.stderr
    again = bough("parser", "silver", str(texts), "--out", str(out))
    assert again.returncode == 2
    assert "is there already" in again.stderr
    settings = [
        piece for setting in [*SMALL, f"silver={out}", "silver_share=1"] for piece in ("--set", setting)
    ]
    run = bough("parser", "train", "--out", str(tmp_path / "run"), "--data", str(mini), "--own", *settings)
    assert run.returncode == 0, run.stderr
    card = (tmp_path / "run" / "README.md").read_text()
    assert "`silver.jsonl` of `bough parser silver`" in card
    assert str(tmp_path) not in card.partition("## Made by")[0]


def test_a_parser_that_has_seen_all_of_gum_is_not_measured_on_it(trained: Path, mini: Path) -> None:
    shown = [
        bough("parser", "evaluate", *folder, "--data", str(mini), "--own", "--split", "dev").stdout
        for folder in ([], [str(trained)])
    ]
    assert ["GUM" in table for table in shown] == [False, True]


def test_a_run_is_not_overwritten(trained: Path, mini: Path) -> None:
    again = bough("parser", "train", "--out", str(trained), "--data", str(mini), "--set", "hidden=8")
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
        (("silver", "no.txt", "--out", "silver.jsonl"), "no.txt: no such file"),
        (("silver", "--out", "silver.jsonl", "--other", "oak"), "no parser 'oak'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = bough("parser", *arguments)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
