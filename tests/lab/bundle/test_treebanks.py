"""The files that the built-in parser is trained and measured on."""

from pathlib import Path

import pytest

import minidata
from bough.errors import DataError
from bough.train.parser.examples import read_treebanks
from bundle.parser import write_treebanks
from paper.sst import load_sst

GENRES = ["news", "fiction", "court+vlog", "court+podcast"]


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    """Return a data folder whose GUM has 4,000 sentences, two genres of four free."""
    folder = minidata.make(tmp_path / "mini", sentences=20)
    (folder / "treebank").mkdir()
    trees = [f"(ROOT (NP (NN oak) (CD {number})))\n" for number in range(4_000)]
    (folder / "treebank/gum.txt").write_text("".join([*trees, "(ROOT (NN Oak))\n"]))
    (folder / "treebank/gum-genres.txt").write_text(
        "".join(f"{genre}\n" for genre in [*GENRES * 1_000, "news"])
    )
    (folder / "treebank/ewt-silver.txt").write_text(
        "(ROOT (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ old)))))\n"
    )
    return folder


def numbers(path: Path) -> list[int]:
    return [int(example.tokens[1]) for example in read_treebanks([path])]


def test_gum_is_its_free_genres_parted_by_stretches_of_text(mini: Path, tmp_path: Path) -> None:
    write_treebanks(mini, tmp_path, check=False)
    train, dev = numbers(tmp_path / "gum-train.conllu"), numbers(tmp_path / "gum-dev.conllu")
    free = [number for number in range(4_000) if number % 4 in (0, 2)]
    assert sorted(train + dev) == free
    assert dev == [*free[450:500], *free[950:1000], *free[1450:1500], *free[1950:2000]]


def test_sst_has_both_kinds_of_tree(mini: Path, tmp_path: Path) -> None:
    write_treebanks(mini, tmp_path, check=False)
    for split in ("train", "dev", "test"):
        found = read_treebanks([tmp_path / f"sst-{split}.txt", tmp_path / f"sst-{split}.conllu"])
        wanted = [tree.tokens for tree in load_sst(mini, split, parse="dependency", check=False)]
        assert [example.tokens for example in found] == wanted
        assert all(example.spans and example.heads and example.relations for example in found)
        assert not any(example.tags or example.converted for example in found)


def test_a_sentence_of_sick_is_there_once_and_not_in_train(data: Path, tmp_path: Path) -> None:
    write_treebanks(data, tmp_path)
    found = read_treebanks([tmp_path / "sick-test.txt", tmp_path / "sick-test.conllu"])
    assert len(found) == len({example.tokens for example in found}) == 1_264
    assert all(len(example.spans) == len(example.tokens) - 1 for example in found)


def test_a_missing_treebank_is_named(mini: Path, tmp_path: Path) -> None:
    (mini / "treebank/gum-genres.txt").unlink()
    with pytest.raises(DataError, match=r"gum-genres\.txt: no such file"):
        write_treebanks(mini, tmp_path, check=False)
