"""Who does what to whom: two sentences compared by their dependencies."""

from __future__ import annotations

import numpy as np

from paper.systems.composition import cosine
from paper.systems.overlap import coefficients, jaccard
from paper.systems.sentence import Floats, Prepared, Sentence

AGENT, PATIENT = ("nsubj",), ("dobj", "nsubjpass")


def dependencies(pair: Prepared) -> list[float]:
    """Coefficients of the sets of dependencies, and Jaccard of those without the relation, the head, the dependent."""
    a, b = pair.left.triples, pair.right.triples
    parts = [jaccard({t[:i] + t[i + 1 :] for t in a}, {t[:i] + t[i + 1 :] for t in b}) for i in range(3)]
    return [*coefficients(a, b), *parts]


def predicates(pair: Prepared) -> float:
    """Jaccard of the words that depend or are depended on, and of the relations' names."""
    return jaccard(_predicates(pair.left), _predicates(pair.right))


def participants(pair: Prepared) -> list[float]:
    """Jaccard of the agents, and of the patients."""
    return [jaccard(_with(pair.left, which), _with(pair.right, which)) for which in (AGENT, PATIENT)]


def roles(pair: Prepared) -> list[float]:
    """Cosine of the roots' vectors, of the agents', and of the patients'; 0 where a sentence has none."""
    chosen = [("root",), AGENT, PATIENT]
    return [cosine(_vector(pair.left, which), _vector(pair.right, which)) for which in chosen]


def _predicates(sentence: Sentence) -> set[str]:
    return {item for triple in sentence.triples for item in triple}


def _with(sentence: Sentence, relations: tuple[str, ...]) -> set[str]:
    found = zip(sentence.relations, sentence.lemmas, strict=True)
    return {lemma for relation, lemma in found if relation in relations}


def _vector(sentence: Sentence, relations: tuple[str, ...]) -> Floats:
    chosen = [i for i, relation in enumerate(sentence.relations) if relation in relations]
    return np.asarray(sentence.vectors[chosen].sum(axis=0))
