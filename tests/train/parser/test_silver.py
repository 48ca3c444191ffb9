"""Two parsers, and the sentences on which they agree."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bough import Tree
from bough.train.parser.evaluation import write_silver
from bough.train.parser.examples import read_treebanks


class Chain:
    """Every word hangs from the next, but a first word `other` hangs from the last."""

    name = "chain"

    def __init__(self, *, other: str = "") -> None:
        self.other = other

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        raise NotImplementedError

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        return [self.tree(words) for words in sentences]

    def tree(self, words: Sequence[str]) -> Tree:
        parents = [*range(1, len(words)), -1]
        if words[0] == self.other:
            parents[0] = len(words) - 1
        return Tree(parents, tokens=words, relations=["dep"] * (len(words) - 1) + ["root"])


def test_sentences_on_which_parsers_agree_are_a_treebank(tmp_path: Path) -> None:
    out = tmp_path / "silver.conllu"
    texts = [
        "Oaks bend in the wind. Too short.",
        "Oaks bend in the wind.",
        "",
        "so " * 60,
        "Elms bend now and then.",
    ]
    assert write_silver(texts, Chain(), Chain(other="Elms"), out) == (1, 2)
    (example,) = read_treebanks([out])
    assert example.tokens == ("Oaks", "bend", "in", "the", "wind", ".")
    assert example.heads == (2, 3, 4, 5, 6, 0)
    assert example.relations == ("dep", "dep", "dep", "dep", "dep", "root")


@pytest.mark.parametrize("texts", [[], ["", "Too short."], ["so " * 60]])
def test_text_without_a_sentence_to_keep_is_refused(texts: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no sentence of 4 to 40 words"):
        write_silver(texts, Chain(), Chain(), tmp_path / "silver.conllu")
    assert not (tmp_path / "silver.conllu").exists()
