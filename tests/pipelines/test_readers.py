"""Claims about trees that people bring: what is taken, and what is said where words and tree differ."""

import pytest

from bough.errors import FormatError
from bough.pipelines import Pipeline
from bough.pipelines.readers import aligned
from bough.trees.tree import Tree
from bundled_pipelines import related, sentiment

PTB = "(ROOT (S (NP (DT The) (NN film)) (VP (VBZ is) (ADJP (RB not) (JJ good))) (. .)))"
CONLLU = "1\tMen\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tsing\t_\t_\t_\t_\t0\troot\t_\t_\n"


def test_a_tree_in_brackets_is_binarised_and_scored() -> None:
    result = sentiment()("The film is not good.", tree=PTB)
    assert result.tokens == ("The", "film", "is", "not", "good", ".")
    assert len(result.nodes) == 11
    assert result.nodes[0].text == "The film is not good."
    assert {"The film", "not good", "is not good"} <= {node.text for node in result.nodes}


def test_without_a_text_the_words_are_the_trees() -> None:
    assert sentiment()(None, tree=PTB).text == "The film is not good ."


def test_a_tree_object_gives_the_same_as_its_brackets() -> None:
    tree = Tree([-1, 0, 0], tokens=[None, "not", "good"])
    one, other = sentiment()("not good", tree=tree), sentiment()("not good", tree="(0 (1 not) (2 good))")
    assert one.as_dict() == other.as_dict()


def test_the_trees_words_keep_their_place_in_the_text() -> None:
    tokens = aligned('He said: "do not\tgo\u2026"', ["He", "said", ":", "``", "do not\tgo", "...", "''"])
    assert [(token.start, token.end) for token in tokens][3:] == [(9, 10), (10, 19), (19, 20), (20, 21)]


@pytest.mark.parametrize(
    ("text", "tree", "message"),
    [
        ("The film is not bad.", PTB, "word 5 of the tree is 'good', but the sentence has 'bad.'"),
        ("The film is not good. Really", PTB, "but the sentence continues with 'Really'"),
        ("The film is not", PTB, "word 5 of the tree is 'good', but the sentence has 'the end'"),
        ("Men sing", CONLLU, "a dependency tree, but the model reads trees of phrases"),
        ("good", "good", "is not a tree"),
        ("good", "(S (NP", "never closed"),
        ("good", "(S (NP) (VP go))", "leaf 1 has no word"),
        ("good", "(S good) (S bad)", "2 trees; give one tree for one sentence"),
    ],
)
def test_a_tree_that_does_not_fit_is_one_clear_line(text: str, tree: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")) as caught:
        sentiment()(text, tree=tree)
    assert "\n" not in str(caught.value)


def test_a_tree_goes_with_one_text() -> None:
    with pytest.raises(ValueError, match="not with a list"):
        sentiment()(["a", "b"], tree=PTB)  # type: ignore[call-overload]


def test_dependency_trees_for_relatedness() -> None:
    parsed = related()("Men sing", "Men sing", trees=(CONLLU, CONLLU))
    assert parsed.score > 4
    assert parsed.trees[0].relations == ("nsubj", "root")
    with pytest.raises(ValueError, match="but the model reads dependency trees"):
        related()("not good", "not good", trees=("(S (A not) (B good))",) * 2)
    with pytest.raises(FormatError, match="columns"):
        related()("a", "b", trees=("1\ta", "1\tb"))


def test_a_root_may_have_any_label() -> None:
    plain, marked = (sentiment()(None, tree=tree) for tree in (PTB, PTB.replace("ROOT", "@ROOT")))
    assert marked.score == plain.score


def test_a_dependency_tree_has_a_word() -> None:
    with pytest.raises(ValueError, match="the tree has no word"):
        related()(None, None, trees=("(S)", "(S)"))


def test_another_language_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    german = "Der Film war leider viel zu lang, aber die Schauspieler haben mir sehr gut gefallen."
    english = Pipeline(sentiment().model, "balanced")
    english("The film was too long, but I liked the actors very much.")
    assert not caplog.records
    english([german, german])
    english(german)
    assert [record.getMessage()[:49] for record in caplog.records] == [
        "47% of the words are unknown to this English mode"
    ]
