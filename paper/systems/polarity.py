"""What sets two sentences against each other: negation and antonyms."""

from __future__ import annotations

from bough.models.pair_features import NEGATIONS
from paper.systems.sentence import Prepared


def negation(pair: Prepared) -> list[float]:
    """Whether the left, the right, exactly one, or both sentences have a word of negation."""
    left, right = (not NEGATIONS.isdisjoint(sentence.words) for sentence in (pair.left, pair.right))
    return [float(left), float(right), float(left != right), float(left and right)]


def negations(pair: Prepared) -> list[float]:
    """How many words of negation either sentence has, and the difference."""
    left, right = (sum(word in NEGATIONS for word in s.words) for s in (pair.left, pair.right))
    return [float(left), float(right), float(abs(left - right))]


def antonyms(pair: Prepared) -> float:
    """How many words of one sentence are opposed to one of the other that does not have the word itself."""
    left, right = set(pair.left.terms), set(pair.right.terms)
    return float(
        sum(any(pair.thesaurus.antonyms(a, b) for b in sorted(right - left)) for a in sorted(left - right))
    )
