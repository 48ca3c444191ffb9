"""Two parsers, and the arcs on which they agree."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bough import Tree
from bough.train.parser.examples import UNKNOWN_HEAD, read_silver
from bough.train.parser.silver import write_silver


class Chain:
    """Every word hangs from the next; with `last_first` the first from the last."""

    name = "chain"

    def __init__(self, *, last_first: bool = False) -> None:
        self.last_first = last_first

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        raise NotImplementedError

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        return [self.tree(words) for words in sentences]

    def tree(self, words: Sequence[str]) -> Tree:
        parents = [*range(1, len(words)), -1]
        if self.last_first:
            parents[0] = len(words) - 1
        return Tree(parents, tokens=words, relations=["dep"] * (len(words) - 1) + ["root"])


def test_heads_on_which_parsers_differ_are_unknown(tmp_path: Path) -> None:
    out = tmp_path / "silver.jsonl"
    texts = ["Oaks bend in the wind. Too short.", "Oaks bend in the wind.", "", "so " * 60]
    count, share = write_silver(texts, Chain(), Chain(last_first=True), out)
    assert count == 1
    assert share == 5 / 6
    stored = json.loads(out.read_text())
    assert stored["heads"] == [None, 3, 4, 5, 6, 0]
    assert stored["relations"] == [None, "dep", "dep", "dep", "dep", "root"]
    (example,) = read_silver(out)
    assert example.tokens == ("Oaks", "bend", "in", "the", "wind", ".")
    assert example.heads == (UNKNOWN_HEAD, 3, 4, 5, 6, 0)


@pytest.mark.parametrize("texts", [[], ["", "Too short."], ["so " * 60]])
def test_text_without_a_sentence_to_keep_is_refused(texts: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no sentence of 4 to 40 words"):
        write_silver(texts, Chain(), Chain(), tmp_path / "silver.jsonl")
    assert not (tmp_path / "silver.jsonl").exists()
