"""Measures on plain values: sets, soft cardinality, alignment."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from paper.systems.alignment import greedy
from paper.systems.cardinality import soft_cardinality, spelling
from paper.systems.overlap import coefficients, jaccard

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
