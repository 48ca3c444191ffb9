"""The real sentences, where they are."""

from pathlib import Path

import pytest

from bough.errors import DataError
from bundle.treebanks import gum, gum_unseen, sick, sick_unseen, sst, treebank


def test_every_sentence_has_a_binary_bracketing_and_one_root(data: Path) -> None:
    for example in [*sst(data, "dev"), *sick(data, "dev")]:
        assert len(example.spans) == len(example.tokens) - 1
        assert len(example.heads) == len(example.relations or ()) == len(example.tokens)
        assert example.heads.count(0) == 1


def test_unseen_means_not_in_train(data: Path) -> None:
    unseen = sick_unseen(data, "test")
    assert len(unseen) == 1_264
    assert not {example.tokens for example in unseen} & {example.tokens for example in sick(data, "train")}


def test_a_labelled_treebank_has_trees_of_two_words_and_more(tmp_path: Path) -> None:
    folder = tmp_path / "treebank"
    folder.mkdir()
    tree = "(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))\n(ROOT (NN Oak))\n"
    (folder / "gum.txt").write_text(tree, encoding="utf-8")
    (example,) = treebank(tmp_path, "gum")
    assert example.source == "gum"
    assert example.tokens == ("The", "oak", "bends", ".")
    with pytest.raises(DataError, match=r"ewt-silver\.txt: no such file"):
        treebank(tmp_path, "ewt")


def test_gum_is_parted_by_stretches_of_text(tmp_path: Path) -> None:
    (tmp_path / "treebank").mkdir()
    trees = [f"(ROOT (NP (NN oak) (CD {number})))\n" for number in range(2_000)]
    (tmp_path / "treebank/gum.txt").write_text("".join(trees))
    numbers = {
        split: [int(example.tokens[1]) for example in gum(tmp_path, split)]
        for split in ("train", "dev", "test")
    }
    assert sorted(number for part in numbers.values() for number in part) == list(range(2_000))
    assert numbers["dev"] == [*range(450, 500), *range(1450, 1500)]
    assert numbers["test"] == [*range(950, 1000), *range(1950, 2000)]
    assert gum_unseen(tmp_path, "dev") == gum(tmp_path, "dev")


def test_without_gum_nothing_of_it_is_held_out(tmp_path: Path) -> None:
    assert gum_unseen(tmp_path, "dev") == []
