"""Sentences and phrases as vectors composed of their words', compared by their cosine."""

from __future__ import annotations

import numpy as np

from paper.systems.alignment import chunks
from paper.systems.sentence import Floats, Prepared, Sentence, unit


def cosine(a: Floats, b: Floats) -> float:
    """Of two vectors; 0 if one is zero."""
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
    """The same of the nouns alone and of the verbs alone; 0 where a sentence has none."""
    return [cosine(_of_part(pair.left, part), _of_part(pair.right, part)) for part in "nv"]


def phrases(pair: Prepared) -> list[float]:
    """Chunks composed by sum and by product: the mean best cosine with a chunk of the other, both ways averaged."""
    numbers = []
    for compose in (_summed, _multiplied):
        a, b = ([compose(s.vectors[chunk]) for chunk in chunks(s)] for s in (pair.left, pair.right))
        table = unit(np.stack(a)) @ unit(np.stack(b)).T
        numbers.append(float(table.max(axis=1).mean() + table.max(axis=0).mean()) / 2)
    return numbers


def _summed(rows: Floats) -> Floats:
    return np.asarray(rows.sum(axis=0))


def _multiplied(rows: Floats) -> Floats:
    return np.asarray(rows.prod(axis=0))


def _of_part(sentence: Sentence, part: str) -> Floats:
    chosen = [i for i, (_, found) in enumerate(sentence.terms) if found == part]
    return np.asarray(sentence.vectors[chosen].sum(axis=0))
