"""What one sentence says beyond the other, with WordNet as all that is known of the world: no prover, no models."""

from __future__ import annotations

from paper.systems.polarity import antonyms, negation
from paper.systems.senses import Term
from paper.systems.sentence import Prepared, Sentence


def instances(pair: Prepared) -> list[float]:
    """The share of either sentence's content words that follow from a word of the other; right, then left."""
    return [_instances(pair, pair.left, pair.right), _instances(pair, pair.right, pair.left)]


def relations(pair: Prepared) -> list[float]:
    """The share of either sentence's dependencies both of whose words follow from a dependency of the other."""
    return [_relations(pair, pair.left, pair.right), _relations(pair, pair.right, pair.left)]


def verdict(pair: Prepared) -> list[float]:
    """Either way: 1 if every content word follows, 0 if half of them do and negation or an antonym opposes, else ½."""
    against = negation(pair)[2] > 0 or antonyms(pair) > 0
    return [
        0.0 if against and share >= 0.5 else 1.0 if share == 1 and not against else 0.5
        for share in instances(pair)
    ]


def _instances(pair: Prepared, known: Sentence, said: Sentence) -> float:
    content = [said.terms[i] for i in said.content]
    return sum(_any(pair, known.terms, term) for term in content) / len(content)


def _relations(pair: Prepared, known: Sentence, said: Sentence) -> float:
    theirs = [(known.terms[head], known.terms[word]) for _, head, word in known.arcs]
    own = [(said.terms[head], said.terms[word]) for _, head, word in said.arcs]
    found = [any(_follows(pair, a, x) and _follows(pair, b, y) for a, b in theirs) for x, y in own]
    return sum(found) / len(found) if found else 1.0


def _any(pair: Prepared, known: tuple[Term, ...], said: Term) -> bool:
    return any(_follows(pair, term, said) for term in known)


def _follows(pair: Prepared, known: Term, said: Term) -> bool:
    """Whether what is `known` is `said`: the same lemma, a synonym, or something more general."""
    return known[0] == said[0] or pair.thesaurus.synonyms(known, said) or pair.thesaurus.hypernym(known, said)
