from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bough.data import DataError
from bough.errors import FormatError
from bough.trees.tree import Tree
from paper.sst import load_sst, sst_files


def sentence(tree: Tree) -> list[str | None]:
    assert tree.tokens is not None
    return [tree.tokens[node] for node in tree.words]


def labels(tree: Tree) -> tuple[object, ...]:
    assert tree.labels is not None
    return tree.labels


def test_constituency_labels_are_ints_and_tokens_plain(few: Path) -> None:
    trees = load_sst(few, "train", check=False)
    assert [labels(tree) for tree in trees] == [(3, 2, 3, 2, 4, 4, 3, 2, 2), (2, 2, 2, 2, 2), (0, 1, 0, 2, 1)]
    assert [sentence(tree) for tree in trees] == [
        ["The", "elm", "grew", "tall", "."],
        ["It", "rained", "("],
        ["Rot", "and/or", "rust"],
    ]


def test_dependency_labels_relations_and_the_root(few: Path) -> None:
    trees = load_sst(few, "dev", parse="dependency", check=False)
    assert [labels(tree) for tree in trees] == [
        (2, None, 3, 2, 2),
        (2, 2, 2),
        (0, 2, 1),
    ]  # '#' at the second root
    assert trees[0].relations == ("det", "nsubj", "root", "acomp", "punct")
    assert sentence(trees[2]) == ["Rot", "and/or", "rust"]


@pytest.mark.parametrize("parse", ["constituency", "dependency"])
def test_binary_drops_neutral_sentences_and_keeps_neutral_phrases(few: Path, parse: str) -> None:
    trees = load_sst(few, "test", task="binary", parse=parse, check=False)  # type: ignore[arg-type]
    fine = load_sst(few, "test", parse=parse, check=False)  # type: ignore[arg-type]
    assert [labels(tree)[tree.root] for tree in trees] == [2, 0]
    classes: dict[Any, int | None] = {None: None, 0: 0, 1: 0, 2: 1, 3: 2, 4: 2}
    assert [labels(tree) for tree in trees] == [
        tuple(classes[label] for label in labels(tree)) for tree in (fine[0], fine[2])
    ]
    kept = load_sst(few, "test", task="binary", parse=parse, neutral=True, check=False)  # type: ignore[arg-type]
    assert [labels(tree) for tree in kept] == [
        tuple(classes[label] for label in labels(tree)) for tree in fine
    ]


def test_a_wrong_count_is_an_error_with_both_numbers(few: Path) -> None:
    with pytest.raises(DataError, match=r"train\.txt: 3 sentences, expected 8,544"):
        load_sst(few, "train")


@pytest.mark.parametrize("parse", ["constituency", "dependency"])
def test_a_missing_file_is_named(few: Path, parse: str) -> None:
    for path in sst_files(few, "train", parse):  # type: ignore[arg-type]
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(
            DataError, match=rf"{path}: no such file; .*python -m paper fetch sst.*BOUGH_DATA"
        ):
            load_sst(few, "train", parse=parse, check=False)  # type: ignore[arg-type]
        path.write_bytes(content)


def test_a_dependency_root_that_contradicts_the_sentence_is_an_error(few: Path) -> None:
    path = few / "sst" / "dep" / "train" / "dlabels.txt"
    path.write_text(path.read_text().replace("0 # 1 0 0", "0 # 2 0 0"))
    with pytest.raises(DataError, match=r"dlabels\.txt:1: root label 4, but 3 in"):
        load_sst(few, "train", parse="dependency", check=False)


def test_files_of_different_lengths_are_an_error(few: Path) -> None:
    path = few / "sst" / "trees" / "train.txt"
    path.write_text(path.read_text() + "(2 (2 Oh) (2 no))\n")
    with pytest.raises(DataError, match=r"3 lines, .*train\.txt has 4"):
        load_sst(few, "train", parse="dependency", check=False)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("(5 (2 Oh) (2 no))", "label '5'"),
        ("(S (2 Oh) (2 no))", "label 'S'"),
        ("( (2 Oh) (2 no))", "no label at the root"),
    ],
)
def test_other_labels_are_an_error_with_the_tree(few: Path, line: str, reason: str) -> None:
    path = few / "sst" / "trees" / "train.txt"
    path.write_text(path.read_text() + f"\n\n{line}\n")
    with pytest.raises(FormatError, match=rf"train\.txt: tree 4: {reason}"):
        load_sst(few, "train", check=False)


@pytest.mark.parametrize(("name", "value"), [("split", "valid"), ("task", "ternary"), ("parse", "chart")])
def test_unknown_choices_are_an_error(few: Path, name: str, value: str) -> None:
    choices = {"split": "train", "task": "fine", "parse": "constituency", name: value}
    with pytest.raises(ValueError, match=rf"{name} '{value}': '"):
        load_sst(few, check=False, **choices)  # type: ignore[arg-type]


def test_the_real_treebank_holds_what_is_known(data: Path) -> None:
    spaces = 0
    for split, sentences, not_neutral in (("train", 8544, 6920), ("dev", 1101, 872), ("test", 2210, 1821)):
        phrases = load_sst(data, split)
        words = load_sst(data, split, parse="dependency")
        roots = [labels(tree)[tree.root] for tree in phrases]
        assert len(phrases) == len(words) == sentences
        assert sum(root != 2 for root in roots) == not_neutral
        assert roots == [labels(tree)[tree.root] for tree in words]
        assert [sentence(tree) for tree in phrases] == [sentence(tree) for tree in words]
        assert all(len(tree) == 2 * len(tree.leaves) - 1 for tree in phrases)
        spaces += sum("\u00a0" in str(token) for tree in words for token in sentence(tree))
    assert spaces >= 3  # a no-break space does not end a word
    assert len(load_sst(data, "dev", task="binary")) == 872
