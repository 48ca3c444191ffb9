"""Claims about `bough.load("relatedness")`."""

from pathlib import Path

import numpy as np
import pytest

from bough.text.tokenise import Token, sentences
from bundle.sts import load_sts
from bundled_pipelines import related

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


def test_the_score_is_the_cosine_on_the_scale_and_there_are_no_probabilities() -> None:
    pairs = [(a, b) for a in CORPUS for b in CORPUS]
    left, right = related().encode([a for a, _ in pairs]), related().encode([b for _, b in pairs])
    head = related().model.head
    cosines = (left * right).sum(axis=1)
    expected = np.clip(1 + 4 * (cosines * head.a.item() + head.b.item()), 1, 5)
    np.testing.assert_allclose(related().predict(pairs), expected, atol=1e-4)
    result = related()(*pairs[1])
    assert result.probabilities == {}
    assert set(result.as_dict()) == {"a", "b", "score", "probabilities"}
    assert related().predict_proba(pairs).shape == (25, 0)


def test_a_notebook_shows_both_trees_and_the_score() -> None:
    result = related()("A dog runs", "An animal is running")
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
    assert rows.shape == (5, 300)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(related().encode(iter(CORPUS[2:3]))[0], rows[2], atol=1e-5)
    assert related().encode([]).shape == (0, 300)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_nearest_finds_them_best_first() -> None:
    found = related().nearest("two men are playing guitar", CORPUS, k=2)
    assert [one.index for one in found] == [1, 3]
    assert found[0].text == CORPUS[1]
    assert found[0].score >= found[1].score
    known = related().encode(CORPUS)
    assert related().nearest("two men are playing guitar", CORPUS, k=2, vectors=known) == found
    assert len(related().nearest("a cat", CORPUS, k=99)) == 5


def test_nearest_says_what_compare_says() -> None:
    query = "two men are playing guitar"
    found = related().nearest(query, CORPUS, k=5)
    for one in found:
        assert one.score == pytest.approx(related().score(query, one.text), abs=1e-4)


def test_nearest_is_the_order_of_any_index_of_the_vectors() -> None:
    products = related().encode(CORPUS) @ related().encode("two men are playing guitar")
    found = related().nearest("two men are playing guitar", CORPUS, k=5)
    assert [one.index for one in found] == np.argsort(-products, kind="stable").tolist()


def test_a_rare_word_counts_more_than_common_ones() -> None:
    crowd = [f"A man is sitting on chair number {n}" for n in range(100)]
    corpus = [*crowd, "The orangutan escaped"]
    assert related().nearest("An orangutan has escaped from the zoo", corpus, k=1)[0].index == len(crowd)


def test_the_same_unknown_name_or_number_makes_texts_alike_and_another_does_not() -> None:
    for text, other in (("Mail from Xqzzt", "Mail from Vwkkp"), ("It costs $271", "It costs $938")):
        assert related().score(text, text) > 4.5 > related().score(text, other)


def test_another_word_for_the_same_is_seen() -> None:
    related_to = related().score("The car is fast.", "The automobile is quick.")
    assert related_to > related().score("The car is fast.", "The onion is green.") + 0.5


@pytest.mark.slow
def test_nearest_does_not_lose_to_tf_idf(data: Path) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    pairs = load_sts(data, "test")
    corpus = list(dict.fromkeys(text for pair in pairs for text in (pair.a, pair.b)))
    asked = [pair for pair in pairs if pair.score >= 4.2 and pair.a != pair.b][::4]
    known = related().encode(corpus)
    words = TfidfVectorizer().fit(corpus)
    cosines = (words.transform([pair.a for pair in asked]) @ words.transform(corpus).T).toarray()
    hits = np.zeros(2, dtype=int)
    for pair, row in zip(asked, cosines, strict=True):
        ours = [one.text for one in related().nearest(pair.a, corpus, 2, vectors=known)]
        theirs = [corpus[i] for i in np.argsort(-row, kind="stable")[:2]]
        hits += [next(text for text in found if text != pair.a) == pair.b for found in (ours, theirs)]
    assert hits[0] >= hits[1]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="k=0: at least 1"):
        related().nearest("a", CORPUS, k=0)
    with pytest.raises(ValueError, match="no word in text 1"):
        related().score("a cat", " ")
    with pytest.raises(ValueError, match="no word in text 300"):
        related().encode(["a cat"] * 300 + [" "])
    with pytest.raises(ValueError, match="where several are expected"):
        related().nearest("dog", "guitar")
    assert related().encode("guitar").shape == (300,)
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
    found = list(related().stream(pairs, allow_empty=True))
    assert [one is None for one in found] == [False, True, True, False]
    for one, pair in ((found[0], pairs[0]), (found[3], pairs[3])):
        assert one is not None
        assert (one.a, one.b) == pair
        assert one.score == pytest.approx(related().score(*pair), abs=1e-4)
    assert list(related().stream([("", "")], allow_empty=True)) == [None]


def test_every_text_is_cut_into_words_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []

    def noted(text: str) -> list[list[Token]]:
        cut.append(text)
        return sentences(text)

    monkeypatch.setattr("bough.pipelines.readers.sentences", noted)
    list(related().stream([("A cat", "A dog"), ("", "A dog")], allow_empty=True))
    assert sorted(cut) == ["", "A cat", "A dog", "A dog"]
    cut.clear()
    related().nearest("A cat", ["A dog", ""], skip=True)
    assert sorted(cut) == ["", "A cat", "A dog"]
