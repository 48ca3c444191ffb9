"""Soft cardinality (Jimenez et al.): how many different things a bag has, where similar things count as one.

|A|' = Σ_i w_i / Σ_j sim(a_i, a_j)^p, and |A ∩ B|' = |A|' + |B|' - |A ∪ B|', the union being both bags joined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

import numpy as np

from paper.systems.sentence import Floats, Prepared, unit

T = TypeVar("T")


def soft_cardinality(similarity: Floats, weights: Floats, softness: float) -> float:
    """|A|' of a bag with these similarities (n, n) of its elements, 1 on the diagonal, and these weights (n,)."""
    return float((weights / (similarity**softness).sum(axis=1)).sum())


def ratios(similarity: Floats, weights: Floats, left: int, softness: float) -> list[float]:
    """What soft cardinality says of two bags: the first `left` elements, and the others."""
    a = soft_cardinality(similarity[:left, :left], weights[:left], softness)
    b = soft_cardinality(similarity[left:, left:], weights[left:], softness)
    union = soft_cardinality(similarity, weights, softness)
    common = a + b - union
    small, large = max(min(a, b), 1e-9), max(a, b, 1e-9)
    return [
        a, b, common, union, union - common, a - common, b - common,
        common / max(a, 1e-9), common / max(b, 1e-9), common / max(union, 1e-9), 2 * common / (small + large),
        common / small, common / large, common / math.sqrt(small * large),
        (a - common) / max(a, 1e-9), (b - common) / max(b, 1e-9), (a + b) / max(union, 1e-9),
    ]  # fmt: skip


# ------------------------------------------------------------------ bags of words


def by_spelling(pair: Prepared) -> list[float]:
    """Words alike by their q-grams."""
    return _of_words(pair, 1.0, lambda stems: _table(stems, spelling))


def by_wordnet(pair: Prepared) -> list[float]:
    """Words alike by WordNet's paths."""
    terms = [*_content(pair.left.terms, pair.left.content), *_content(pair.right.terms, pair.right.content)]
    return _of_words(pair, 1.0, lambda _: _table(terms, pair.thesaurus.path))


def by_vectors(pair: Prepared) -> list[float]:
    """Words alike by their vectors' cosine."""
    rows = np.concatenate([pair.left.vectors[pair.left.content], pair.right.vectors[pair.right.content]])
    return _of_words(pair, 2.0, lambda stems: _cosines(rows, stems))


def by_dependencies(pair: Prepared) -> list[float]:
    """Bags of dependencies, alike by relation and the spelling of both words; none at all is a bag of nothing."""
    bags = [sorted(pair.left.triples), sorted(pair.right.triples)]
    bags = [bag or [("", "", "")] for bag in bags]
    similarity = _table([*bags[0], *bags[1]], _triples)
    return ratios(similarity, np.ones(len(similarity)), len(bags[0]), 1.0)


def _of_words(pair: Prepared, softness: float, table: Callable[[list[str]], Floats]) -> list[float]:
    left, right = pair.left, pair.right
    stems = [*_content(left.stems, left.content), *_content(right.stems, right.content)]
    weights = np.concatenate([left.weights[left.content], right.weights[right.content]])
    return ratios(table(stems), weights, len(left.content), softness)


# --------------------------------------------------------------- similar elements


@cache
def spelling(a: str, b: str) -> float:
    """Dice's coefficient of the sets of 2 to 4 characters in a row, with marks at both ends."""
    x, y = _spectrum(a), _spectrum(b)
    return 2 * len(x & y) / (len(x) + len(y))


@cache
def _spectrum(word: str) -> frozenset[str]:
    marked = f"<{word}>"
    return frozenset(marked[i : i + size] for size in (2, 3, 4) for i in range(len(marked) - size + 1))


def _triples(a: tuple[str, str, str], b: tuple[str, str, str]) -> float:
    return (float(a[0] == b[0]) + spelling(a[1], b[1]) + spelling(a[2], b[2])) / 3


def _table(items: Sequence[T], similarity: Callable[[T, T], float]) -> Floats:
    table = np.eye(len(items))
    for i, a in enumerate(items):
        for j in range(i):
            table[i, j] = table[j, i] = similarity(a, items[j])
    return table


def _cosines(rows: Floats, stems: list[str]) -> Floats:
    cosines = np.clip(unit(rows) @ unit(rows).T, 0.0, 1.0)
    same = np.array(stems)[:, None] == np.array(stems)[None, :]
    return np.where(same, 1.0, cosines)


def _content(items: Sequence[T], positions: list[int]) -> list[T]:
    return [items[i] for i in positions]
