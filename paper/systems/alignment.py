"""Words and chunks of one sentence matched with those of the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paper.systems.sentence import Floats, Prepared, Sentence

INSIDE = {"det", "predet", "amod", "nn", "num", "poss", "possessive", "aux", "auxpass", "cop", "neg", "prt"}
ENOUGH = 0.5  # similarity from which two chunks are aligned


# ------------------------------------------------------------------- best matches


def best_cosines(pair: Prepared) -> list[float]:
    """How well either sentence's words, weighted, find their best match in the other by vectors; and the mean."""
    return best_matches(pair, pair.cosines)


def best_paths(pair: Prepared) -> list[float]:
    """The same by WordNet's paths."""
    return best_matches(pair, pair.paths)


def best_thesaurus(pair: Prepared) -> list[float]:
    """The same by WordNet's other similarities: Wu and Palmer's, Leacock and Chodorow's, Lin's."""
    thesaurus = pair.thesaurus
    numbers = []
    for similarity in (thesaurus.wu_palmer, thesaurus.leacock_chodorow, thesaurus.lin):
        numbers += best_matches(pair, pair.table(similarity))
    return numbers


def worst_cosines(pair: Prepared) -> list[float]:
    """The best match of the word of either sentence that has the worst: what the other does not speak of."""
    table = pair.cosines[np.ix_(pair.left.content, pair.right.content)]
    return [float(table.max(axis=1).min()), float(table.max(axis=0).min())]


def nearest_nouns(pair: Prepared) -> float:
    """The mean best path of the left nouns to a right one, over those that have any."""
    nouns = [[term for term in s.terms if term[1] == "n"] for s in (pair.left, pair.right)]
    path = pair.thesaurus.path
    best = [max((path(a, b) for b in nouns[1]), default=0.0) for a in nouns[0]]
    hits = [value for value in best if value > 0]
    return sum(hits) / len(hits) if hits else 0.0


def best_matches(pair: Prepared, table: Floats) -> list[float]:
    """The weighted mean best match of the left content words, of the right, and the mean of both."""
    a, b = pair.left.content, pair.right.content
    inner = table[np.ix_(a, b)]
    left = _mean(inner.max(axis=1), pair.left.weights[a])
    right = _mean(inner.max(axis=0), pair.right.weights[b])
    return [left, right, (left + right) / 2]


# ------------------------------------------------------------------------ chunks


def chunks(sentence: Sentence) -> list[list[int]]:
    """Content words with what belongs to them: a noun with its modifiers, a verb with its auxiliaries."""
    inside = [
        relation in INSIDE and head >= 0
        for relation, head in zip(sentence.relations, sentence.heads, strict=True)
    ]
    groups: dict[int, list[int]] = {}
    for i in range(len(sentence.words)):
        top = i
        while inside[top]:
            top = sentence.heads[top]
        groups.setdefault(top, []).append(i)
    content = set(sentence.content)
    kept = [[i for i in group if i in content] for _, group in sorted(groups.items())]
    return [group for group in kept if group]


def chunk_alignment(pair: Prepared) -> list[float]:
    """Chunks aligned one to one, the most similar first.

    The shares of chunks and of words that are aligned, left and right; the mean similarity of aligned chunks;
    how many are left over on either side; and how similar the most similar of those are, 0 without any.
    """
    a, b = chunks(pair.left), chunks(pair.right)
    table = np.array([[_chunk_similarity(pair, x, y) for y in b] for x in a])
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
    """Rows matched with columns one to one, the greatest value first, none below `least`."""
    order = sorted(np.ndindex(*table.shape), key=lambda cell: (-table[cell], cell))
    rows: set[int] = set()
    columns: set[int] = set()
    matched = []
    for i, j in order:
        if table[i, j] >= least and i not in rows and j not in columns:
            rows.add(i)
            columns.add(j)
            matched.append((i, j))
    return matched


def _chunk_similarity(pair: Prepared, a: Sequence[int], b: Sequence[int]) -> float:
    inner = pair.likeness[np.ix_(a, b)]
    left, right = (
        _mean(inner.max(axis=1), pair.left.weights[a]),
        _mean(inner.max(axis=0), pair.right.weights[b]),
    )
    return (left + right) / 2


# ------------------------------------------------------------------- the thesaurus


def related_words(pair: Prepared) -> list[float]:
    """Of the left words that the right does not have, how many have a synonym, hypernym, hyponym there.

    Then, left and right, the share of all words that the other has in none of these ways.
    """
    left, right = ({term for term in s.terms if term[1]} for s in (pair.left, pair.right))
    a, b = sorted(left - right), sorted(right - left)
    synonyms, hypernym = pair.thesaurus.synonyms, pair.thesaurus.hypernym
    kinds = [
        [(x, y) for x in a for y in b if synonyms(x, y)],
        [(x, y) for x in a for y in b if hypernym(x, y)],
        [(x, y) for x in a for y in b if hypernym(y, x)],
    ]
    counts = [float(len({x for x, _ in kind})) for kind in kinds]
    known_left = {x for kind in kinds for x, _ in kind}
    known_right = {y for kind in kinds for _, y in kind}
    return [
        *counts,
        (len(a) - len(known_left)) / max(1, len(left)),
        (len(b) - len(known_right)) / max(1, len(right)),
    ]


def _mean(values: Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else float(values.mean())
