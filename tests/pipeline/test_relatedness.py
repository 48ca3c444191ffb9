"""Claims about `bough.load("relatedness")`."""

import numpy as np
import pytest

from bough.parsing.tokenise import Token, tokenise
from pipelines import related

CORPUS = [
    "A cat sleeps on the sofa",
    "Two men play guitars on a stage",
    "A plane is taking off",
    "Some people are making music",
    "A woman is slicing an onion",
]


def test_related_sentences_score_higher() -> None:
    same = related().score("A man is playing a guitar", "A man is playing a guitar")
    near = related().score("A man is playing a guitar", "A man plays the guitar")
    far = related().score("A man is playing a guitar", "A woman is slicing an onion")
    assert 5 >= same >= near > far >= 1
    assert same > 4.5
    assert far < 2.5


def test_the_score_is_the_expected_rating() -> None:
    result = related().compare("A dog runs", "An animal is running")
    assert sum(result.probabilities) == pytest.approx(1, abs=1e-5)
    assert result.score == pytest.approx(sum(r * p for r, p in enumerate(result.probabilities, 1)), abs=1e-4)
    assert set(result.as_dict()) == {"a", "b", "score", "probabilities"}


def test_a_notebook_shows_both_trees_and_the_score() -> None:
    result = related().compare("A dog runs", "An animal is running")
    shown = result._repr_svg_()
    assert shown is not None
    assert shown.count('class="node"') == 3 + 4
    assert f"relatedness {result.score:.2f}" in shown


def test_order_of_the_two_does_not_matter() -> None:
    assert related().score(CORPUS[0], CORPUS[1]) == pytest.approx(
        related().score(CORPUS[1], CORPUS[0]), abs=1e-4
    )


def test_encode_gives_a_row_each_whatever_the_batch() -> None:
    rows = related().encode(CORPUS)
    assert rows.shape == (5, 150)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(related().encode(iter(CORPUS[2:3]))[0], rows[2], atol=1e-5)
    assert related().encode([]).shape == (0, 150)
    assert related().mean_rows(CORPUS).shape == (5, related().model.config.dimension)


def test_nearest_finds_them_best_first() -> None:
    found = related().nearest("two men are playing guitar", CORPUS, k=2)
    assert [one.index for one in found] == [1, 3]
    assert found[0].text == CORPUS[1]
    assert found[0].score >= found[1].score
    known = related().encode(CORPUS)
    assert related().nearest("two men are playing guitar", CORPUS, k=2, vectors=known) == found
    assert len(related().nearest("a cat", CORPUS, k=99)) == 5


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="k=0: at least 1"):
        related().nearest("a", CORPUS, k=0)
    with pytest.raises(ValueError, match="no word in text 1"):
        related().score("a cat", " ")
    with pytest.raises(ValueError, match="no word in text 300"):
        related().encode(["a cat"] * 300 + [" "])
    for call in (related().encode, lambda text: related().nearest("dog", text)):
        with pytest.raises(ValueError, match="where several are expected"):
            call("guitar")
    with pytest.raises(ValueError, match="2 vectors for 5 texts"):
        related().nearest("a", CORPUS, vectors=related().encode(CORPUS[:2]))


def test_texts_without_a_word_are_passed_over_where_that_is_asked_for() -> None:
    gaps = ["", CORPUS[0], "  ", *CORPUS[1:], "\x00"]
    plain, skipped = related().nearest(CORPUS[1], CORPUS), related().nearest(CORPUS[1], gaps, skip=True)
    assert [one.text for one in skipped] == [one.text for one in plain]
    assert all(gaps[one.index] == one.text for one in skipped)
    assert related().nearest(CORPUS[1], ["", " "], skip=True) == []
    with pytest.raises(ValueError, match="no word in text 1, '  '"):
        related().nearest(CORPUS[1], gaps[1:3] * 2)


def test_a_pair_with_a_text_without_a_word_is_none_and_the_others_are_compared() -> None:
    pairs = [("A cat", "A dog"), ("", "A dog"), ("A cat", " "), (CORPUS[0], CORPUS[1])]
    found = list(related().stream_any(pairs))
    assert [one is None for one in found] == [False, True, True, False]
    for one, pair in ((found[0], pairs[0]), (found[3], pairs[3])):
        assert one is not None
        assert (one.a, one.b) == pair
        assert one.score == pytest.approx(related().score(*pair), abs=1e-4)
    assert list(related().stream_any([("", "")])) == [None]


def test_every_text_is_cut_into_words_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []

    def noted(text: str) -> list[Token]:
        cut.append(text)
        return tokenise(text)

    monkeypatch.setattr("bough.pipeline.reading.tokenise", noted)
    list(related().stream_any([("A cat", "A dog"), ("", "A dog")]))
    assert sorted(cut) == ["", "A cat", "A dog", "A dog"]
    cut.clear()
    related().nearest("A cat", ["A dog", ""], skip=True)
    assert sorted(cut) == ["", "A cat", "A dog"]
