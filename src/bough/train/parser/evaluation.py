"""Measure a parser: brackets, heads, relations, and sentences per second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bough.text.tokenise import tokenise
from bough.train.parser.examples import Example, spans_of
from bough.trees.tree import Tree

FIGURES = {
    "sentences": "sentences",
    "brackets": "bracket F1 (spans of 2 words and more)",
    "inner_brackets": "bracket F1 without the whole sentence's span",
    "heads": "UAS",
    "heads_of_words": "UAS without punctuation",
    "relations": "LAS",
}
_PUNCTUATION = frozenset([".", ",", ":", ";", "!", "?", "``", "''", "`", "'", "--", "-", "...", "(", ")"])


class ParsesBoth(Protocol):
    """A parser that returns both trees of a sentence."""

    def both(self, sentences: Sequence[Sequence[str]]) -> list[tuple[Tree, Tree]]:
        """Return the phrase tree and the dependency tree of each sentence."""


@dataclass(frozen=True)
class Scores:
    """Scores in percent over all sentences together (micro-averaged).

    `brackets` is F1 of the unlabelled spans of two words and more, the whole sentence's among them; both
    trees are binary, so precision, recall and F1 are one number. `inner_brackets` is the same without
    the whole sentence's span, which no parser can miss. `heads` (UAS) and `relations` (LAS, head and
    relation right) count every token; `heads_of_words` leaves out punctuation marks. `relations` is None where the
    sentences have no relations.
    """

    sentences: int
    brackets: float
    inner_brackets: float
    heads: float
    heads_of_words: float
    relations: float | None


def score(parser: ParsesBoth, examples: Sequence[Example]) -> Scores:
    """Return how far a parser's trees agree with the trees of the examples."""
    named = any(example.relations is not None for example in examples)
    found = parser.both([example.tokens for example in examples])
    spans = right_spans = wholes = heads = words = right_heads = right_words = right_relations = 0
    for example, (phrase, arc) in zip(examples, found, strict=True):
        given, predicted = set(example.spans), set(spans_of(phrase))
        spans += len(given)
        right_spans += len(given & predicted)
        wholes += len(example.tokens) > 1
        relations = arc.relations or ()
        for place, token in enumerate(example.tokens):
            right = int(arc.parents[place]) + 1 == example.heads[place]
            heads += 1
            right_heads += right
            right_relations += (
                right and example.relations is not None and relations[place] == example.relations[place]
            )
            if token not in _PUNCTUATION:
                words += 1
                right_words += right
    return Scores(
        sentences=len(examples),
        brackets=_percent(right_spans, spans),
        inner_brackets=_percent(right_spans - wholes, spans - wholes),
        heads=_percent(right_heads, heads),
        heads_of_words=_percent(right_words, words),
        relations=_percent(right_relations, heads) if named else None,
    )


def speed(parser: ParsesBoth, examples: Sequence[Example]) -> float:
    """Return how many sentences a second of one core takes from text (tokens joined by spaces) to both trees.

    The time is the processor time of all threads, so other work on the machine does not count.
    """
    texts = [" ".join(example.tokens) for example in examples]
    parser.both([[token.text for token in tokenise(text)] for text in texts[:50]])  # warm up
    start = time.process_time()
    parser.both([[token.text for token in tokenise(text)] for text in texts])
    return len(texts) / (time.process_time() - start)


def shown(value: float | None) -> str:
    """Return a figure as text for a table."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 100.0
