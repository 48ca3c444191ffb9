"""What to try for a word without a vector: its parts, its stem, its digits spelt alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BREAKS = re.compile("[-\u2013\u2014/_.'\u2019]+")
_DIGIT = re.compile(r"\d")
_SUFFIXES = (  # what a stem may end in instead
    ("ies", "y"),
    ("ied", "y"),
    ("ier", "y"),
    ("iest", "y"),
    ("iness", "y"),
    ("ily", "y"),
    ("ness", ""),
    ("less", ""),
    ("ishly", "ish"),
    ("ingly", "e"),
    ("ingly", ""),
    ("edly", ""),
    ("ing", ""),
    ("ing", "e"),
    ("ers", "e"),
    ("ers", ""),
    ("est", "e"),
    ("est", ""),
    ("er", "e"),
    ("er", ""),
    ("ed", "e"),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("ish", ""),
    ("y", ""),
    ("y", "e"),
    ("s", ""),
    ("d", ""),
)
_PREFIXES = (
    "un",
    "non",
    "anti",
    "over",
    "under",
    "super",
    "ultra",
    "semi",
    "quasi",
    "pseudo",
    "mis",
    "re",
    "pre",
)
SHORTEST = 3  # letters that a stem must keep


def guesses(word: str) -> Iterable[tuple[str, ...]]:
    """Groups of words, the likeliest first: the first group that is known stands for `word`, by its average."""
    lower = word.lower()
    if _DIGIT.search(lower):
        yield (_DIGIT.sub("0", lower),)
        yield ("0",)
    pieces = tuple(piece for piece in _BREAKS.split(lower) if piece)
    if len(pieces) > 1:
        yield pieces
    for stem in _stems(lower):
        yield (stem,)
    if len(pieces) > 1:
        yield tuple(next(iter(_stems(piece)), piece) for piece in pieces)
        yield (pieces[-1],)
        yield (pieces[0],)


def _stems(word: str) -> Iterable[str]:
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= SHORTEST:
            stem = word.removesuffix(suffix) + instead
            yield stem
            if not instead and len(stem) > SHORTEST and stem[-1] == stem[-2]:
                yield stem[:-1]  # stopping, bigger
    for prefix in _PREFIXES:
        if word.startswith(prefix) and len(word) - len(prefix) >= SHORTEST:
            yield word.removeprefix(prefix)
