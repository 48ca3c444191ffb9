"""Every measure: finite numbers, those that claim it symmetric, and a sentence most like itself."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from paper.systems import SYSTEMS
from paper.systems.measures import chunks, coefficients, greedy, jaccard, soft_cardinality, spelling
from paper.systems.sentence import Prepared

SYMMETRIC = {
    "illinois-lh": ("lemmas", "content sums", "phrases"),
    "meaning-factory": ("words", "length difference", "sums", "synsets", "nouns", "verbs", "rarity", "predicates",
                        "participants"),
    "ecnu": ("weighted lemmas", "characters", "stems", "sequences", "part sums", "roles"),
}  # fmt: skip
SHARES = {  # between 0 and 1, and 1 for a sentence and itself
    "illinois-lh": ("lemmas",),
    "meaning-factory": ("words", "words or synonyms", "synsets", "nouns", "verbs", "predicates", "participants",
                        "instances", "relations", "verdict"),
    "ecnu": ("words", "lemmas", "weighted lemmas", "characters", "stems", "sequences", "precision", "best paths",
             "best in WordNet", "best cosines", "worst cosines", "dependencies"),
}  # fmt: skip
BAGS = ("spelling", "wordnet", "vectors", "dependencies")
Rows = dict[str, np.ndarray]  # measure -> (pairs, numbers)


@pytest.fixture(scope="module")
def rows(pairs: list[Prepared]) -> dict[str, Rows]:
    """The numbers of each measure of each system: thirty pairs, the same swapped, twelve of a sentence with itself."""
    found = {name: [system.features(pair) for pair in pairs] for name, system in SYSTEMS.items()}
    return {
        name: {key: np.stack([np.atleast_1d(one[key]) for one in each]) for key in each[0]}
        for name, each in found.items()
    }


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_measure_gives_as_many_finite_numbers_for_every_pair(
    system: str, rows: dict[str, Rows], pairs: list[Prepared]
) -> None:
    assert all(np.isfinite(row).all() and row.std() > 0 for row in rows[system].values())
    together = np.concatenate([*rows[system].values()], axis=1)
    np.testing.assert_array_equal(SYSTEMS[system].rows(pairs[:2]), together[:2])


@pytest.mark.parametrize(("system", "name"), [(s, name) for s, names in SYMMETRIC.items() for name in names])
def test_the_order_of_the_sentences_does_not_matter(system: str, name: str, rows: dict[str, Rows]) -> None:
    row = rows[system][name]
    np.testing.assert_allclose(row[:30], row[30:60], atol=1e-12)


@pytest.mark.parametrize(("system", "name"), [(s, name) for s, names in SHARES.items() for name in names])
def test_a_share_is_at_most_1_which_a_sentence_reaches_with_itself(
    system: str, name: str, rows: dict[str, Rows]
) -> None:
    row = rows[system][name]
    assert ((row >= 0) & (row <= 1 + 1e-12)).all()
    np.testing.assert_allclose(row[60:], 1.0)


@pytest.mark.parametrize("name", BAGS)
def test_soft_cardinality_of_a_bag_joined_with_itself_is_that_of_the_bag(
    name: str, rows: dict[str, Rows]
) -> None:
    a_b_common_union = rows["unal-nlp"][name][60:, :4].T
    for one, other in pairwise(a_b_common_union):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    np.testing.assert_allclose(rows["unal-nlp"][name][60:, 4], 0, atol=1e-9)


@pytest.mark.parametrize("name", BAGS)
def test_swapped_bags_swap_their_numbers(name: str, rows: dict[str, Rows]) -> None:
    row = rows["unal-nlp"][name]
    np.testing.assert_allclose(row[:30, [0, 1, 2, 3, 4]], row[30:60, [1, 0, 2, 3, 4]], rtol=1e-6, atol=1e-9)


def test_negation_and_antonyms_are_told_of_either_side(rows: dict[str, Rows]) -> None:
    negation, antonyms = rows["ecnu"]["negation"], rows["ecnu"]["antonyms"]
    np.testing.assert_array_equal(negation[:30], negation[30:60][:, [1, 0, 2, 3]])
    np.testing.assert_array_equal(negation[:, 2], negation[:, 0] != negation[:, 1])
    assert {*negation[:, 2].tolist()} == {0.0, 1.0}
    np.testing.assert_array_equal(antonyms[:30] > 0, antonyms[30:60] > 0)
    assert not antonyms[60:].any()


def test_chunks_hold_every_content_word_once(pairs: list[Prepared]) -> None:
    for pair in pairs:
        assert sorted(word for chunk in chunks(pair.left) for word in chunk) == pair.left.content


def test_a_sentence_is_aligned_with_itself_in_full(rows: dict[str, Rows]) -> None:
    np.testing.assert_allclose(rows["illinois-lh"]["chunks"][60:], [[1, 1, 1, 1, 1, 0, 0, 0]] * 12)


# ------------------------------------------------------------------ plain values

bags = st.sets(st.integers(0, 6))


@given(bags, bags)
def test_coefficients_lie_between_0_and_1_and_are_1_only_for_what_contains_the_other(
    a: set[int], b: set[int]
) -> None:
    assert jaccard(a, b) == jaccard(b, a)
    assert (jaccard(a, b) == 1) == (a == b)
    assert all(0 <= value <= 1 for value in coefficients(a, b))
    if a and b:
        assert (coefficients(a, b)[4] == 1) == (a <= b)


@given(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6))
def test_spelling_is_symmetric_and_1_for_equal_words(a: str, b: str) -> None:
    assert spelling(a, a) == 1
    assert 0 <= spelling(a, b) == spelling(b, a) <= 1


@given(st.integers(1, 6), st.floats(0.1, 4), st.data())
def test_soft_cardinality_lies_between_one_thing_and_all_of_them(
    n: int, softness: float, data: st.DataObject
) -> None:
    drawn = data.draw(arrays(np.float64, (n, n), elements=st.floats(0, 1)))
    similarity = np.maximum(np.maximum(drawn, drawn.T), np.eye(n))
    size = soft_cardinality(similarity, np.ones(n), softness)
    assert 1 - 1e-9 <= size <= n + 1e-9
    assert np.isclose(soft_cardinality(np.eye(n), np.ones(n), softness), n)
    assert np.isclose(soft_cardinality(np.ones((n, n)), np.ones(n), softness), 1)


@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(0, 1)))
def test_alignment_is_one_to_one_and_leaves_nothing_that_could_be_aligned(table: np.ndarray) -> None:
    matched = greedy(table, 0.5)
    rows, columns = {i for i, _ in matched}, {j for _, j in matched}
    assert len(rows) == len(columns) == len(matched)
    assert all(table[cell] >= 0.5 for cell in matched)
    for i, j in np.ndindex(*table.shape):
        assert i in rows or j in columns or table[i, j] < 0.5
