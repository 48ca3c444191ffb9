"""The scores of a parser."""

import pytest

from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.evaluation import score
from bough.train.parser.learner import folded
from small_parser import EXAMPLES, SIZE, learner


@pytest.fixture
def parser() -> BuiltinParser:
    made = learner()
    return BuiltinParser(made.lexicon, SIZE, made.relations, folded(made))


def test_scores_count_brackets_heads_and_relations(parser: BuiltinParser) -> None:
    class Fixed:
        def both(self, sentences: object) -> object:
            return [parser.both([EXAMPLES[0].tokens])[0]]

    phrase, arc = parser.both([EXAMPLES[0].tokens])[0]
    spans = {tuple(span) for span in phrase.spans.tolist() if span[1] - span[0] > 1}
    found = score(Fixed(), EXAMPLES[:1])  # type: ignore[arg-type]
    right = len(spans & set(EXAMPLES[0].spans))
    assert found.brackets == round(100 * right / 3, 2)
    assert found.inner_brackets == 50.0 * (right - 1)
    assert found.heads == 25.0 * sum(
        int(p) + 1 == h for p, h in zip(arc.parents, EXAMPLES[0].heads, strict=True)
    )
