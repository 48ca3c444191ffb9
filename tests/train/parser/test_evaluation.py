"""The scores of a parser."""

from collections.abc import Sequence

from bough import Tree
from bough.formats import ptb
from bough.train.parser.evaluation import Scores, score
from bough.train.parser.examples import Example
from small_parser import example


class Fixed:
    """Give one tree of each kind for a sentence of four words."""

    name = "fixed"

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        return [ptb.parse("( ( The oak) ( bends .))") for _ in sentences]

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        return [
            Tree([1, -1, 1, 2], tokens=words, relations=["det", "root", "dep", "punct"])
            for words in sentences
        ]


GOLD = Example(
    tokens=("The", "oak", "bends", "."),
    spans=((0, 4), (0, 3), (0, 2)),
    heads=(2, 3, 0, 3),
    relations=("amod", "nsubj", "root", "punct"),
)


def test_scores_count_brackets_heads_and_relations() -> None:
    # two of three spans, one of the two inside; two heads of four, one of the three words'; one name of the two
    assert score(Fixed(), [GOLD]) == Scores(1, 66.67, 50.0, 50.0, 33.33, 25.0)


def test_each_score_is_over_the_sentences_that_have_its_gold() -> None:
    bracketed, headed = Example(GOLD.tokens, GOLD.spans), Example(GOLD.tokens, heads=GOLD.heads)
    assert score(Fixed(), [bracketed]) == Scores(1, 66.67, 50.0, None, None, None)
    assert score(Fixed(), [headed]) == Scores(1, None, None, 50.0, 33.33, None)
    assert score(Fixed(), [GOLD, bracketed, headed]) == Scores(3, 66.67, 50.0, 50.0, 33.33, 25.0)


def test_a_parser_without_relations_has_none_right() -> None:
    class Unnamed(Fixed):
        def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
            return [Tree([1, 2, -1, 2], tokens=words) for words in sentences]

    found = score(Unnamed(), [example("oak", "bends")])
    assert (found.heads, found.relations) == (100.0, 0.0)
