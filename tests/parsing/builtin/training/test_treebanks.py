"""The real sentences, where they are."""

from pathlib import Path

import pytest

from bough.errors import DataError
from bough.parsing.builtin.training.treebanks import sick, sick_unseen, sst, treebank


def test_every_sentence_has_a_binary_bracketing_and_one_root(data: Path) -> None:
    for example in [*sst(data, "dev"), *sick(data, "dev")]:
        assert len(example.spans) == len(example.tokens) - 1
        assert len(example.heads) == len(example.relations or ()) == len(example.tokens)
        assert example.heads.count(0) == 1


def test_unseen_means_not_in_train(data: Path) -> None:
    unseen = sick_unseen(data, "test")
    assert len(unseen) == 1_264
    assert not {example.tokens for example in unseen} & {example.tokens for example in sick(data, "train")}


def test_a_labelled_treebank_brings_spans_heads_and_tags(tmp_path: Path) -> None:
    folder = tmp_path / "treebank"
    folder.mkdir()
    tree = "(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))\n(ROOT (NN Oak))\n"
    (folder / "gum.txt").write_text(tree, encoding="utf-8")
    (example,) = treebank(tmp_path, "gum")
    assert example.tokens == ("The", "oak", "bends", ".")
    assert example.spans == ((0, 4), (0, 2), (2, 4))
    assert example.heads == (2, 3, 0, 3)
    assert example.tags == ("DT", "NN", "VBZ", ".")
    assert example.labels == ("S", "NP", "@S")
    with pytest.raises(DataError, match=r"ewt-silver\.txt: no such file"):
        treebank(tmp_path, "ewt")
