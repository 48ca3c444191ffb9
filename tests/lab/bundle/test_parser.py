"""Claims about the bundled parser and `python -m bundle parser`, which makes it."""

import subprocess
from pathlib import Path

import pytest

import minidata
from bough.text import BUILTIN
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.evaluation import score
from bough.train.parser.examples import read_treebanks
from bundle.card import LICENSE
from bundle.parser import write_treebanks
from lab_calls import lab

SMALL = ["epochs=2", "hidden=8", "word=8", "layers=1", "span=8", "arc=8", "relation=4", "batch_tokens=100"]
TREES = [
    "(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))",
    "(ROOT (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ old))) (. .)))",
]


def test_the_bundled_parser_is_as_good_as_its_card_says(data: Path, tmp_path: Path) -> None:
    write_treebanks(data, tmp_path)
    parser = BuiltinParser.load(BUILTIN)
    on_sst = score(parser, read_treebanks([tmp_path / "sst-dev.txt", tmp_path / "sst-dev.conllu"])[::3])
    on_gum = score(parser, read_treebanks([tmp_path / "gum-dev.conllu"])[::3])
    assert (on_sst.brackets or 0) > 82
    assert (on_sst.heads or 0) > 85.5
    assert (on_gum.heads or 0) > 85


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = minidata.make(tmp_path_factory.mktemp("mini"), sentences=20)
    (folder / "treebank").mkdir()
    for name, times in (("gum", 250), ("ewt-silver", 1)):
        (folder / "treebank" / f"{name}.txt").write_text("".join(f"{tree}\n" for tree in TREES * times))
    (folder / "treebank/gum-genres.txt").write_text("news\n" * 500)
    return folder


def parser(out: Path, mini: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    settings = [piece for setting in SMALL for piece in ("--set", setting)]
    return lab("bundle", "parser", "--out", str(out), "--data", str(mini), "--own", *settings, *arguments)


def test_one_command_leaves_a_parser_with_its_licence_data_and_card(mini: Path, tmp_path: Path) -> None:
    out = tmp_path / "parser"
    done = parser(out, mini)
    assert done.returncode == 0, done.stderr
    assert "epoch  2" in done.stderr
    about = BuiltinParser.load(out).about
    assert about["license"] == LICENSE
    card = (out / "README.md").read_text()
    for row in about["data"]:
        assert f"| {row['name']} | {row['use']} | {row['terms']} |" in card
    assert "SICK" not in str(about)
    assert "| sentences | 20 | 20 | 50 |" in card
    assert '"hidden": 8' in card
    again = parser(out, mini)
    assert again.returncode == 2
    assert again.stderr.splitlines()[-1].endswith("resume the run, or choose another folder")
