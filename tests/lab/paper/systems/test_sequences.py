"""Measures on plain values: strings, sets, soft cardinality, alignment."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from paper.systems.alignment import greedy
from paper.systems.cardinality import soft_cardinality, spelling
from paper.systems.overlap import coefficients, jaccard
from paper.systems.strings import common_run, common_subsequence, edits

words = st.lists(st.sampled_from("abcd"), max_size=7)
bags = st.sets(st.integers(0, 6))


def is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(item in rest for item in part)


def subsequences(items: list[str]) -> list[list[str]]:
    return [[x for i, x in enumerate(items) if mask >> i & 1] for mask in range(1 << len(items))]


@given(words, words)
def test_common_runs_and_subsequences_are_the_longest_there_are(a: list[str], b: list[str]) -> None:
    runs = [a[i:j] for i in range(len(a)) for j in range(i + 1, len(a) + 1)]
    starts = range(len(b))
    assert common_run(a, b) == max(
        (len(r) for r in runs if any(b[k : k + len(r)] == r for k in starts)), default=0
    )
    assert common_subsequence(a, b) == max(len(s) for s in subsequences(a) if is_subsequence(s, b))


@given(words, words, words)
def test_edits_are_a_distance(a: list[str], b: list[str], c: list[str]) -> None:
    assert (edits(a, b) == 0) == (a == b)
    assert edits(a, b) == edits(b, a)
    assert edits(a, c) <= edits(a, b) + edits(b, c)
    assert abs(len(a) - len(b)) <= edits(a, b) <= len(a) + len(b) - 2 * common_subsequence(a, b)


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
