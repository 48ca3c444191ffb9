"""The treebank in examples/demo is a small one in SST's format, good enough to learn from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bough.data.paths import SPLITS
from bough.formats import ptb
from bough.trees.tree import Tree

DEMO = Path(__file__).parents[2] / "examples" / "demo"
COUNTS = {"train": 240, "dev": 60, "test": 60}


def words(tree: Tree) -> tuple[str, ...]:
    return tuple(str((tree.tokens or ())[leaf]).lower() for leaf in tree.leaves.tolist())


@pytest.fixture(scope="module")
def treebank() -> dict[str, list[Tree]]:
    return {split: ptb.read(DEMO / f"{split}.txt") for split in SPLITS}


def test_it_has_the_sizes_it_is_known_for(treebank: dict[str, list[Tree]]) -> None:
    assert {split: len(trees) for split, trees in treebank.items()} == COUNTS


@pytest.mark.parametrize("split", SPLITS)
def test_every_inner_node_has_two_children_and_every_leaf_a_word(
    treebank: dict[str, list[Tree]], split: str
) -> None:
    for tree in treebank[split]:
        assert set(tree.degrees.tolist()) == {0, 2}
        assert [token is not None for token in tree.tokens or ()] == (tree.degrees == 0).tolist()


@pytest.mark.parametrize("split", SPLITS)
def test_every_node_has_one_of_the_five_labels(treebank: dict[str, list[Tree]], split: str) -> None:
    assert {label for tree in treebank[split] for label in tree.labels or [None]} == set("01234")


@pytest.mark.parametrize("split", SPLITS)
def test_sentences_are_3_to_16_words_and_stand_one_a_line(
    treebank: dict[str, list[Tree]], split: str
) -> None:
    assert all(3 <= len(tree.leaves) <= 16 for tree in treebank[split])
    lines = (DEMO / f"{split}.txt").read_text(encoding="utf-8").splitlines()
    assert lines == [ptb.write(tree) for tree in treebank[split]]


@pytest.mark.parametrize("split", SPLITS)
def test_no_class_of_sentence_is_rare(treebank: dict[str, list[Tree]], split: str) -> None:
    roots = Counter((tree.labels or ())[tree.root] for tree in treebank[split])
    assert all(roots[label] >= len(treebank[split]) / 10 for label in "01234")


def test_no_sentence_occurs_twice(treebank: dict[str, list[Tree]]) -> None:
    sentences = [words(tree) for trees in treebank.values() for tree in trees]
    assert len(set(sentences)) == len(sentences)


def test_the_words_of_dev_and_test_can_be_learnt_from_train(treebank: dict[str, list[Tree]]) -> None:
    known = {word for tree in treebank["train"] for word in words(tree)}
    for split in ("dev", "test"):
        unknown = {word for tree in treebank[split] for word in words(tree)} - known
        assert len(unknown) <= 5


def test_words_alone_do_not_tell_the_sentiment(treebank: dict[str, list[Tree]]) -> None:
    """Negation, contrast and degree: many phrases are neither of the sentiments that they are made of."""
    changed = 0
    for tree in treebank["train"]:
        labels = tree.labels or ()
        for node, children in enumerate(tree.children):
            changed += bool(children) and labels[node] not in {labels[child] for child in children}
    assert changed >= 100
