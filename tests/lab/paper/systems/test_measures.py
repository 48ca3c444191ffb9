"""Every measure: finite numbers, those that claim it symmetric, and a sentence most like itself."""

from collections.abc import Callable

import numpy as np
import pytest

from paper.systems import SYSTEMS, alignment, cardinality, overlap
from paper.systems.sentence import Prepared
from paper.systems.system import Measure

SYMMETRIC: list[Measure] = [
    overlap.words, overlap.lemmas, overlap.nouns, overlap.verbs, overlap.weighted_lemmas, overlap.rarity,
    overlap.synsets, overlap.length_difference, overlap.character_grams, overlap.word_grams, overlap.sequences,
    alignment.sums, alignment.content_sums, alignment.part_sums, alignment.phrases,
    overlap.predicates, overlap.participants, alignment.roles,
]  # fmt: skip
SHARES: list[Measure] = [  # between 0 and 1, and 1 for a sentence and itself
    overlap.words, overlap.words_or_synonyms, overlap.lemmas, overlap.nouns, overlap.verbs, overlap.weighted_lemmas,
    overlap.synsets, overlap.word_coefficients, overlap.lemma_coefficients, overlap.character_grams, overlap.word_grams,
    overlap.sequences, overlap.precision, alignment.best_cosines, alignment.best_paths, alignment.best_thesaurus,
    alignment.worst_cosines, overlap.dependencies, overlap.predicates, overlap.participants, overlap.instances,
    overlap.relations, overlap.verdict,
]  # fmt: skip
BAGS = [cardinality.by_spelling, cardinality.by_wordnet, cardinality.by_vectors, cardinality.by_dependencies]
USED = list(dict.fromkeys(measure for system in SYSTEMS.values() for measure in system.measures))


def row(measure: Measure, pair: Prepared) -> np.ndarray:
    return np.atleast_1d(measure(pair))


def name(measure: Measure) -> str:
    function = getattr(measure, "func", measure)
    return f"{function.__module__.split('.')[-1]}.{function.__name__}"


@pytest.mark.parametrize("measure", USED, ids=name)
def test_a_measure_gives_as_many_finite_numbers_for_every_pair(
    measure: Measure, pairs: list[Prepared]
) -> None:
    rows = np.stack([row(measure, pair) for pair in pairs])
    assert np.isfinite(rows).all()
    assert rows.std() > 0


@pytest.mark.parametrize("measure", SYMMETRIC, ids=name)
def test_the_order_of_the_sentences_does_not_matter(measure: Measure, pairs: list[Prepared]) -> None:
    for pair, swapped in zip(pairs[:30], pairs[30:60], strict=True):
        np.testing.assert_allclose(row(measure, pair), row(measure, swapped), atol=1e-12)


@pytest.mark.parametrize("measure", SHARES, ids=name)
def test_a_share_is_at_most_1_which_a_sentence_reaches_with_itself(
    measure: Measure, pairs: list[Prepared]
) -> None:
    for pair in pairs:
        assert ((row(measure, pair) >= 0) & (row(measure, pair) <= 1 + 1e-12)).all()
    for same in pairs[60:]:
        np.testing.assert_allclose(row(measure, same), 1.0)


@pytest.mark.parametrize("measure", BAGS)
def test_soft_cardinality_of_a_bag_joined_with_itself_is_that_of_the_bag(
    measure: Callable[[Prepared], list[float]], pairs: list[Prepared]
) -> None:
    for same in pairs[60:]:
        a, b, common, union, difference, *_ = measure(same)
        assert a == pytest.approx(b) == pytest.approx(common) == pytest.approx(union)
        assert difference == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("measure", BAGS)
def test_swapped_bags_swap_their_numbers(
    measure: Callable[[Prepared], list[float]], pairs: list[Prepared]
) -> None:
    for pair, swapped in zip(pairs[:30], pairs[30:60], strict=True):
        given, other = measure(pair), measure(swapped)
        assert given[:2] == pytest.approx(other[1::-1])
        assert given[2:5] == pytest.approx(other[2:5])


def test_negation_and_antonyms_are_told_of_either_side(pairs: list[Prepared]) -> None:
    for pair, swapped in zip(pairs[:30], pairs[30:60], strict=True):
        left, right, one, both = overlap.negation(pair)
        assert overlap.negation(swapped) == [right, left, one, both]
        assert (one, both) == (float(left != right), float(left and right))
        assert (overlap.antonyms(pair) > 0) == (overlap.antonyms(swapped) > 0)
    assert {overlap.negation(pair)[2] for pair in pairs} == {0.0, 1.0}
    assert all(overlap.antonyms(same) == 0 for same in pairs[60:])


def test_chunks_hold_every_content_word_once(pairs: list[Prepared]) -> None:
    for pair in pairs:
        words = [word for chunk in alignment.chunks(pair.left) for word in chunk]
        assert sorted(words) == pair.left.content


def test_a_sentence_is_aligned_with_itself_in_full(pairs: list[Prepared]) -> None:
    for same in pairs[60:]:
        np.testing.assert_allclose(alignment.chunk_alignment(same), [1, 1, 1, 1, 1, 0, 0, 0])
