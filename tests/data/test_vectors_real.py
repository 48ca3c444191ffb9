"""Claims about the vectors on the real GloVe files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bough.data.vector_sets import choose, coverage
from bough.data.vectors import load_vectors
from bough.trees.tree import Tree
from paper.sick import load_sick
from paper.sst import load_sst

pytestmark = pytest.mark.slow


def tokens(trees: list[Tree]) -> Counter[str]:
    return Counter(str(tree.tokens[node]) for tree in trees if tree.tokens for node in tree.words)


def test_the_real_840b_has_all_of_sick_but_five_words(data: Path) -> None:
    pairs = [pair for split in ("train", "dev", "test") for pair in load_sick(data, split)]
    counts = tokens([tree for pair in pairs for tree in (pair.left, pair.right)])
    path = choose(data, counts)
    vectors = load_vectors(path, counts)
    assert (vectors.name, vectors.cased, vectors.dim) == ("glove.840B.300d", True, 300)
    missing = {word for word, found in zip(vectors.words, vectors.found, strict=True) if not found}
    assert missing == {"bmxs", "midspeech", "the/some", "uninterestedly", "unstitching"}


def test_the_real_completed_840b_is_chosen_for_the_treebank(data: Path, tmp_path: Path) -> None:
    if not (data / "glove" / "glove.840B.300d.completed.txt").is_file():
        pytest.skip("no completed 840B among the real data")
    counts = tokens(load_sst(data, "train"))
    path = choose(data, counts, cache=tmp_path)
    known = coverage(path, counts, cache=tmp_path)
    assert known.name == "glove.840B.300d.completed"
    assert str(known).endswith(
        "98.9% of 163,563 tokens (90.5% exact, 4.3% by the lower-case form, 4.1% estimated)"
    )


def test_the_real_6b_is_lower_case_and_has_the_treebank(data: Path) -> None:
    counts = tokens(load_sst(data, "train"))
    path = choose(data, counts, "6B")
    assert not load_vectors(path, []).cased
    assert coverage(path, counts).share > 0.98
