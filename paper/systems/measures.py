"""Similarity features of two sentences: overlap, best matches, chunks, soft cardinality, opposites."""

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TypeVar

import numpy as np

from paper.systems.sentence import NEGATIONS, Floats, Prepared, Sentence, unit

T = TypeVar("T")
INSIDE = {"det", "predet", "amod", "nn", "num", "poss", "possessive", "aux", "auxpass", "cop", "neg", "prt"}
ENOUGH = 0.5  # the least similarity of aligned chunks


def jaccard(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """Return |a ∩ b| / |a ∪ b|; 1 for two empty sets."""
    return len(a & b) / len(a | b) if a or b else 1.0


def coefficients(a: AbstractSet[object], b: AbstractSet[object]) -> list[float]:
    """Return Jaccard's, Dice's, and the overlap over the smaller, larger, left and right set."""
    if not a or not b:
        return [float(a == b)] * 6
    common = len(a & b)
    sizes = (min(len(a), len(b)), max(len(a), len(b)), len(a), len(b))
    return [jaccard(a, b), 2 * common / (len(a) + len(b)), *(common / size for size in sizes)]


def grams(items: str | Sequence[str], size: int) -> set[object]:
    return {tuple(items[i : i + size]) for i in range(len(items) - size + 1)}


def negation(pair: Prepared) -> list[float]:
    """Return whether the left, the right, exactly one, and both have a negation, as 0 or 1."""
    left, right = (not NEGATIONS.isdisjoint(sentence.words) for sentence in pair.both)
    return [float(left), float(right), float(left != right), float(left and right)]


def antonyms(pair: Prepared) -> float:
    """Count the words of the left alone that have an antonym in the right alone."""
    left, right = set(pair.left.terms), set(pair.right.terms)
    opposed = pair.wordnet.antonyms
    return float(sum(any(opposed(a, b) for b in sorted(right - left)) for a in sorted(left - right)))


def related_words(pair: Prepared) -> list[float]:
    """Return how many words of the left sentence alone have a synonym, a hypernym and a hyponym in the right alone.

    The last two numbers are the shares of the left and the right words that the other sentence has
    in none of these ways.
    """
    left, right = ({term for term in sentence.terms if term[1]} for sentence in pair.both)
    a, b = sorted(left - right), sorted(right - left)
    synonyms, hypernym = pair.wordnet.synonyms, pair.wordnet.hypernym
    kinds = [
        [(x, y) for x in a for y in b if synonyms(x, y)],
        [(x, y) for x in a for y in b if hypernym(x, y)],
        [(x, y) for x in a for y in b if hypernym(y, x)],
    ]
    known_left = {x for kind in kinds for x, _ in kind}
    known_right = {y for kind in kinds for _, y in kind}
    return [
        *(float(len({x for x, _ in kind})) for kind in kinds),
        (len(a) - len(known_left)) / max(1, len(left)),
        (len(b) - len(known_right)) / max(1, len(right)),
    ]


def cosine(a: Floats, b: Floats) -> float:
    """Return the cosine of two vectors; 0 if one is zero."""
    return float(unit(a) @ unit(b))


def cosine_of_sums(pair: Prepared, left: list[int], right: list[int]) -> float:
    """Return the cosine of the sums of the vectors at the positions; 0 if one sentence has none."""
    return cosine(pair.left.vectors[left].sum(axis=0), pair.right.vectors[right].sum(axis=0))


def content_sums(pair: Prepared) -> list[float]:
    """Return the cosine of the sums of content words' unit vectors, plain and weighted by rarity."""
    plain = [unit(s.vectors[s.content]).sum(axis=0) for s in pair.both]
    weighted = [s.weights[s.content] @ unit(s.vectors[s.content]) for s in pair.both]
    return [cosine(*plain), cosine(*weighted)]


def best_matches(
    pair: Prepared, table: Floats, a: Sequence[int] | None = None, b: Sequence[int] | None = None
) -> list[float]:
    """Return the weighted mean best match of the left words, that of the right words, and the mean of both.

    `table` has the similarity of every two words. `a` and `b` are positions, by default those of all content words.
    """
    a, b = a or pair.left.content, b or pair.right.content
    inner, means = table[np.ix_(a, b)], []
    for axis, weights in ((1, pair.left.weights[a]), (0, pair.right.weights[b])):
        weighted = weights if weights.sum() > 0 else None
        means.append(float(np.average(inner.max(axis=axis), weights=weighted)))
    return [*means, sum(means) / 2]


def chunks(sentence: Sentence) -> list[list[int]]:
    """Return content words in chunks: a noun with its modifiers, a verb with its auxiliaries."""
    groups: dict[int, list[int]] = {}
    for i in range(len(sentence.words)):
        top = i
        while sentence.relations[top] in INSIDE and sentence.heads[top] >= 0:
            top = sentence.heads[top]
        groups.setdefault(top, []).append(i)
    content = set(sentence.content)
    kept = [[i for i in group if i in content] for _, group in sorted(groups.items())]
    return [group for group in kept if group]


def chunk_alignment(pair: Prepared) -> list[float]:
    """Align chunks one to one, the most similar first, and return features of the alignment.

    These are the shares of aligned chunks and of aligned words, left and right; the mean similarity
    of aligned chunks; the numbers of chunks that are not aligned; and the largest similarity of two
    of those, or 0.
    """
    a, b = chunks(pair.left), chunks(pair.right)
    likeness = np.maximum(pair.cosines, pair.table(pair.wordnet.path))
    table = np.array([[best_matches(pair, likeness, x, y)[2] for y in b] for x in a])
    matched = greedy(table, ENOUGH)
    lefts, rights = {i for i, _ in matched}, {j for _, j in matched}
    rest = [table[i, j] for i in range(len(a)) if i not in lefts for j in range(len(b)) if j not in rights]
    return [
        len(matched) / len(a), len(matched) / len(b),
        sum(len(a[i]) for i in lefts) / sum(map(len, a)), sum(len(b[j]) for j in rights) / sum(map(len, b)),
        sum(table[i, j] for i, j in matched) / len(matched) if matched else 0.0,
        float(len(a) - len(matched)), float(len(b) - len(matched)), float(max(rest, default=0.0)),
    ]  # fmt: skip


def greedy(table: Floats, least: float) -> list[tuple[int, int]]:
    """Match rows with columns one to one, the greatest value first, none below `least`."""
    matched: list[tuple[int, int]] = []
    for i, j in sorted(np.ndindex(*table.shape), key=lambda cell: (-table[cell], cell)):
        if table[i, j] >= least and all(i != row and j != column for row, column in matched):
            matched.append((i, j))
    return matched


def soft_cardinality(similarity: Floats, weights: Floats, softness: float) -> float:
    """Return the soft cardinality of a bag, in which similar elements count as one (Jimenez et al.).

    |A|' = Σ_i w_i / Σ_j sim(a_i, a_j)^p, with the similarities (n, n), 1 on the diagonal, and weights (n,).
    """
    return float((weights / (similarity**softness).sum(axis=1)).sum())


def ratios(similarity: Floats, weights: Floats, left: int, softness: float) -> list[float]:
    """Return features of the soft cardinalities of two bags: the first `left` elements, and the others.

    |A ∩ B|' = |A|' + |B|' - |A ∪ B|', where the union is both bags joined.
    """
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


def similarities(items: Sequence[T], similarity: Callable[[T, T], float]) -> Floats:
    """Return the similarity of every two items (n, n), with 1 on the diagonal."""
    table = np.eye(len(items))
    for i, a in enumerate(items):
        for j in range(i):
            table[i, j] = table[j, i] = similarity(a, items[j])
    return table


@cache
def spelling(a: str, b: str) -> float:
    """Return Dice's coefficient of the n-grams of 2 to 4 characters, with marks at both ends."""
    x, y = (set().union(*(grams(f"<{word}>", size) for size in (2, 3, 4))) for word in (a, b))
    return 2 * len(x & y) / (len(x) + len(y))
