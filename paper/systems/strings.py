"""Sentences as strings: how much of one stands in the other in the same order."""

from __future__ import annotations

from collections.abc import Sequence

from paper.systems.overlap import grams
from paper.systems.sentence import Prepared


def sequences(pair: Prepared) -> list[float]:
    """The longest common run and subsequence of lemmas, and one less their edit distance, over the longer length."""
    a, b = pair.left.lemmas, pair.right.lemmas
    longer = max(len(a), len(b))
    return [common_run(a, b) / longer, common_subsequence(a, b) / longer, 1 - edits(a, b) / longer]


def precision(pair: Prepared) -> list[float]:
    """Both ways, the mean share of one's runs of 1 to 4 words that the other has: translation's BLEU, unpenalised."""
    ways = ((pair.left.words, pair.right.words), (pair.right.words, pair.left.words))
    return [_precision(a, b) for a, b in ways]


def _precision(a: Sequence[str], b: Sequence[str]) -> float:
    sizes = range(1, min(4, len(a)) + 1)
    return sum(len(grams(a, n) & grams(b, n)) / len(grams(a, n)) for n in sizes) / len(sizes)


def common_run(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest run of items that both have."""
    best, row = 0, [0] * (len(b) + 1)
    for x in a:
        row = [0] + [row[j] + 1 if x == y else 0 for j, y in enumerate(b)]
        best = max(best, *row)
    return best


def common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest sequence that both have in order, gaps allowed."""
    row = [0] * (len(b) + 1)
    for x in a:
        above, row = row, [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
    return row[-1]


def edits(a: Sequence[str], b: Sequence[str]) -> int:
    """Insertions, deletions and replacements that turn one into the other, as few as possible."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b):
            row.append(min(above[j] + (x != y), above[j + 1] + 1, row[j] + 1))
    return row[-1]
