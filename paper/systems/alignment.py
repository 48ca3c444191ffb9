"""Two sentences compared by how similar their words are: best matches, aligned chunks, sums of vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paper.systems.overlap import AGENT, PATIENT
from paper.systems.sentence import Floats, Prepared, Sentence, unit

INSIDE = {"det", "predet", "amod", "nn", "num", "poss", "possessive", "aux", "auxpass", "cop", "neg", "prt"}
ENOUGH = 0.5  # similarity from which two chunks are aligned


# ------------------------------------------------------------------- best matches


def best_cosines(pair: Prepared) -> list[float]:
    """How well either sentence's words, weighted, find their best match in the other by vectors; and the mean."""
    return best_matches(pair, pair.cosines)


def best_paths(pair: Prepared) -> list[float]:
    """How well either sentence's words find their best match in the other by WordNet's paths; and the mean."""
    return best_matches(pair, pair.paths)


def best_thesaurus(pair: Prepared) -> list[float]:
    """Best matches by WordNet's other similarities: Wu and Palmer's, Leacock and Chodorow's, Lin's."""
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
    return _best_matches(pair, table, pair.left.content, pair.right.content)


def _best_matches(pair: Prepared, table: Floats, a: Sequence[int], b: Sequence[int]) -> list[float]:
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
    table = np.array([[_best_matches(pair, pair.likeness, x, y)[2] for y in b] for x in a])
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


# --------------------------------------------------------------- sums of vectors


def cosine(a: Floats, b: Floats) -> float:
    """Return the cosine of two vectors; 0 if one is zero."""
    return float(unit(a) @ unit(b))


def sums(pair: Prepared) -> float:
    """Cosine of the sums of all words' vectors."""
    return cosine(pair.left.vectors.sum(axis=0), pair.right.vectors.sum(axis=0))


def content_sums(pair: Prepared) -> list[float]:
    """Cosine of the sums of the content words' vectors of length 1: plain, and weighted by their rarity."""
    plain = [unit(s.vectors[s.content]).sum(axis=0) for s in (pair.left, pair.right)]
    weighted = [s.weights[s.content] @ unit(s.vectors[s.content]) for s in (pair.left, pair.right)]
    return [cosine(*plain), cosine(*weighted)]


def part_sums(pair: Prepared) -> list[float]:
    """Cosine of the sums of the nouns' vectors and of the verbs'; 0 where a sentence has none."""
    found = []
    for part in "nv":
        chosen = [[i for i, term in enumerate(s.terms) if term[1] == part] for s in (pair.left, pair.right)]
        found.append(_cosine_of_sums(pair, *chosen))
    return found


def roles(pair: Prepared) -> list[float]:
    """Cosine of the roots' vectors, of the agents', and of the patients'; 0 where a sentence has none."""
    return [
        _cosine_of_sums(pair, pair.left.positions(which), pair.right.positions(which))
        for which in (("root",), AGENT, PATIENT)
    ]


def phrases(pair: Prepared) -> list[float]:
    """Chunks composed by sum and by product: the mean best cosine with a chunk of the other, both ways averaged."""
    numbers = []
    for compose in (np.sum, np.prod):
        a, b = ([compose(s.vectors[chunk], axis=0) for chunk in chunks(s)] for s in (pair.left, pair.right))
        table = unit(np.stack(a)) @ unit(np.stack(b)).T
        numbers.append(float(table.max(axis=1).mean() + table.max(axis=0).mean()) / 2)
    return numbers


def _cosine_of_sums(pair: Prepared, left: list[int], right: list[int]) -> float:
    return cosine(pair.left.vectors[left].sum(axis=0), pair.right.vectors[right].sum(axis=0))


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
