"""Claims about the parse files that `paper.prepare` writes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bough.errors import DataError
from bough.trees.tree import Tree
from paper.prepare import prepare_sst
from paper.sst import load_sst


class Recorded:
    """A parser that knows the trees of its sentences."""

    name = "recorded"

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.trees = {tree.tokens: tree for tree in trees}

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        return [self.trees[tuple(words)] for words in sentences]

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        raise NotImplementedError


@pytest.mark.slow
def test_the_papers_parses_get_the_papers_labels(data: Path, tmp_path: Path) -> None:
    """From the same heads come the same labels: every one of the 163,563 of train and those of dev and test."""
    splits = {split: load_sst(data, split, parse="dependency") for split in ("train", "dev", "test")}
    parser = Recorded([tree for trees in splits.values() for tree in trees])
    files = prepare_sst(parser, data, tmp_path)
    assert len(files) == 15
    for split, trees in splits.items():
        again = load_sst(tmp_path, split, parse="dependency")
        assert [tree.labels for tree in again] == [tree.labels for tree in trees]
        assert again == trees
    with pytest.raises(DataError, match="already exists"):
        prepare_sst(parser, data, tmp_path)
