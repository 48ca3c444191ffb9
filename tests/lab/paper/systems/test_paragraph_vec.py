"""Claims about Paragraph-Vec: it learns from distinct phrases, and says when it cannot."""

from pathlib import Path

import numpy as np
import pytest

from bough.trees.tree import Tree
from paper.sst import load_sst
from paper.systems import PARAGRAPH_VEC, FittedParagraphs
from paper.systems.paragraph_vec import labelled_phrases

pytest.importorskip("gensim")


@pytest.fixture(scope="module")
def trees(mini: Path) -> list[Tree]:
    return load_sst(mini, "train", check=False)


@pytest.fixture(scope="module")
def fitted(trees: list[Tree]) -> FittedParagraphs:
    return PARAGRAPH_VEC.fit(trees, 5, seed=1, size=8, epochs=4)


def test_a_phrase_is_one_paragraph_however_often_and_however_it_is_written() -> None:
    tree = Tree(parents=[2, 2, -1], tokens=["Good", "good", None], labels=[4, 3, 2])
    assert labelled_phrases([tree, tree]) == {("good",): 4, ("good", "good"): 2}
    assert labelled_phrases([tree.replace(labels=[None, 3, None])]) == {("good",): 3}


def test_it_gives_probabilities_to_sentences_with_and_without_known_words(
    fitted: FittedParagraphs, trees: list[Tree]
) -> None:
    unknown = Tree(parents=[-1], tokens=["zyzzyva"])
    p = fitted.predict([*trees[:3], unknown])
    assert p.shape == (4, 5)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert fitted.predict([]).shape == (0, 5)


def test_the_same_seed_gives_the_same_system(fitted: FittedParagraphs, trees: list[Tree]) -> None:
    again, other = (PARAGRAPH_VEC.fit(trees, 5, seed=seed, size=8, epochs=4) for seed in (1, 2))
    predicted = fitted.predict(trees)
    np.testing.assert_array_equal(again.predict(trees), predicted)
    assert not np.array_equal(other.predict(trees), predicted)


def test_two_classes_have_probabilities_too(trees: list[Tree]) -> None:
    polar = {None: None, 0: 0, 1: 0, 2: None, 3: 1, 4: 1}
    two = [tree.replace(labels=[polar[label] for label in tree.labels or ()]) for tree in trees]  # type: ignore[index]
    p = PARAGRAPH_VEC.fit(two, 2, seed=1, size=8, epochs=2).predict(two)
    assert p.shape == (len(two), 2)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_one_class_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="1 labelled phrases of fewer than two classes"):
        PARAGRAPH_VEC.fit([Tree(parents=[-1], tokens=["a"], labels=[1])], 5, seed=1)
