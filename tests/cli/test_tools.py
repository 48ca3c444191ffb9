"""Claims about `bough fetch` and `bough parser`: what they write, and errors in one line."""

import json
from pathlib import Path

import pytest

from bough.text import BUILTIN
from cli_calls import bough_here as bough

VECTOR = "elm " + " ".join(["0.25"] * 300) + "\n"


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "glove.6B.300d.txt").write_text(VECTOR)
    return tmp_path / "copies"


def fetch_glove(*arguments: str) -> str:
    """What is printed as an error, with nothing else."""
    refused = bough("fetch", "glove", *arguments)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    return str(refused.stderr)


def test_copies_are_taken_over(copies: Path, tmp_path: Path) -> None:
    where = ("--from", str(copies), "--data", str(tmp_path / "out"))
    taken = bough("fetch", "glove", *where, "--vectors", "6B")
    assert taken.returncode == 0, taken.stderr
    assert f"glove: 1 files in {tmp_path / 'out'}" in taken.stdout
    assert (tmp_path / "out" / "glove" / "glove.6B.300d.txt").read_text() == VECTOR


def test_copies_that_are_not_whole_are_refused(copies: Path, tmp_path: Path) -> None:
    (copies / "glove.6B.300d.txt").write_text(VECTOR + "oak 0.5\n")
    where = ("--from", str(copies), "--data", str(tmp_path / "out"))
    assert "glove.6B.300d.txt:2: " in fetch_glove(*where, "--vectors", "6B")
    assert not (tmp_path / "out" / "glove").exists()


def test_an_empty_folder_has_nothing_to_take(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    fetch_glove("--from", str(tmp_path / "empty"), "--data", str(tmp_path / "out"))


def test_an_unknown_set_is_an_error(tmp_path: Path) -> None:
    assert "vectors '7B': '840B', '42B' or '6B'" in fetch_glove(
        "--vectors", "7B", "--data", str(tmp_path / "out")
    )
    assert not (tmp_path / "out").exists()


SMALL = ["epochs=2", "hidden=8", "word=8", "layers=1", "span=8", "arc=8", "relation=4"]
PHRASES = "(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))\n"
ARCS = "1\tDie\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tEiche\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def treebanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a file of each kind and a damaged one into the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("p.txt", PHRASES),
        ("d.conllu", ARCS),
        ("open.txt", "(S (NP oak)"),
        ("empty.txt", ""),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("treebanks")
def test_a_parser_is_trained_measured_and_used() -> None:
    settings = [piece for setting in SMALL for piece in ("--set", setting)]
    done = bough(
        "parser", "train", "p.txt", "d.conllu", "--dev", "p.txt", "d.conllu", "--out", "mine", *settings
    )
    assert done.returncode == 0, done.stderr
    assert "epoch  2" in done.stderr
    measured = bough("parser", "evaluate", "mine", "p.txt", "d.conllu", "--json")
    figures = json.loads(measured.stdout)
    assert figures["sentences"] == 2
    assert 0 <= figures["brackets"] <= 100
    assert figures["relations"] is not None
    assert "UAS" in bough("parser", "evaluate", "builtin", "d.conllu").stdout
    used = bough("sentiment", "The oak bends.", "--parser", "mine")
    assert used.returncode == 0, used.stderr


@pytest.mark.usefixtures("treebanks")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "p.txt", "--out", "mine"), "--dev"),
        (("train", "--dev", "p.txt", "--out", "mine"), "no treebank to train on"),
        (("train", "p.txt", "--dev", "open.txt", "--out", "mine"), "open.txt:1: 1 '(' is never closed"),
        (("train", "p.txt", "--dev", "p.txt", "--out", "mine", "--set", "epoch=2"), "did you mean 'epochs'?"),
        (("evaluate", "builtin"), "no treebank to evaluate on"),
        (("evaluate", "no-parser", "p.txt"), "no parser 'no-parser'"),
    ],
)
def test_what_is_wrong_with_a_parser_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str
) -> None:
    failed = bough("parser", *arguments)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert not Path("mine").exists()


def test_silver_text_is_written_once(tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.txt", tmp_path / "silver.conllu"
    texts.write_text("The oak bends in the wind. It is old now.\nThe oak is very old.\n")
    made = bough("parser", "silver", str(texts), "--out", str(out), "--other", str(BUILTIN))
    assert made.returncode == 0, made.stderr
    assert "3 sentences; the parsers agree on 100.0% of 3" in made.stderr
    again = bough("parser", "silver", str(texts), "--out", str(out))
    assert again.returncode == 2
    assert "exists; choose another file" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no.txt", "--out", "silver.conllu"), "no.txt: no such file"),
        (("texts.txt", "--out", "silver.conllu", "--other", "oak"), "no parser 'oak'"),
        (("texts.txt",), "--out"),
        (("--out", "silver.conllu"), "TEXTS"),
    ],
)
def test_what_is_wrong_with_silver_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("The oak is very old.\n")
    failed = bough("parser", "silver", *arguments)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
