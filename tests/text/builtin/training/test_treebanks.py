"""The real sentences, where they are."""

from pathlib import Path

import pytest

from bough.errors import DataError
from bough.parsing.builtin.training.treebanks import (
    UNKNOWN_HEAD,
    gum,
    gum_unseen,
    sick,
    sick_unseen,
    silver,
    sst,
    treebank,
)


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


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"tokens": ["oak"], "heads": [0]}',
        '{"tokens": ["oak"], "heads": [2], "relations": ["root"]}',
        '{"tokens": ["oak"], "heads": [null], "relations": ["root"]}',
        '{"tokens": ["oak", "bends"], "heads": [0], "relations": ["root"]}',
        '{"tokens": ["oak"], "heads": [0], "rela',
    ],
)
def test_a_torn_silver_sentence_is_named(tmp_path: Path, line: str) -> None:
    good = '{"tokens": ["oak", "bends"], "heads": [null, 0], "relations": [null, "root"]}'
    path = tmp_path / "silver.jsonl"
    path.write_text(f"{good}\n{line}\n")
    with pytest.raises(DataError, match=r"silver\.jsonl, line 2: no sentence with heads and relations"):
        silver(path)
    path.write_text(f"{good}\n")
    (example,) = silver(path)
    assert example.tokens == ("oak", "bends")
    assert example.heads == (UNKNOWN_HEAD, 0)
    with pytest.raises(DataError, match=r"gold\.jsonl: no such file; `bough parser silver` writes it"):
        silver(tmp_path / "gold.jsonl")
