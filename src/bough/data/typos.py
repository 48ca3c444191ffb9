"""Known words near one that is not: a letter missing, doubled, swapped or wrong; stretched; run together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

_SHORTEST, _LONGEST = 4, 20  # letters of a word that is taken for a slip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STRETCHED = re.compile(r"(\w)\1{2,}")
_RUN = re.compile(r"[!?]{2,}")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SHORT = frozenset(
    ["a", "i", "am", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it"]
) | {*("me", "my", "no", "of", "on", "or", "so", "to", "up", "us", "we")}


def likeliest(forms: Iterable[str], index: Mapping[str, int]) -> str | None:
    """The known one of some forms that stands first in the index: words stand there by how frequent they are."""
    return min((form for form in forms if form in index), key=index.__getitem__, default=None)


def slip(word: str, index: Mapping[str, int]) -> str | None:
    """The known word that one slip makes this of: a letter left out, doubled or swapped, else a wrong one.

    The first letter is trusted.
    """
    if not (_SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()):
        return None
    cuts = [(word[:i], word[i:]) for i in range(1, len(word) + 1)]
    slight = {left + letter + right for left, right in cuts for letter in _LETTERS}
    slight |= {left + right[1:] for left, right in cuts if right and left[-1] == right[0]}
    slight |= {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    if (found := likeliest(slight, index)) is not None:
        return found
    wrong = {left + letter + right[1:] for left, right in cuts if right for letter in ("", *_LETTERS)}
    return likeliest(wrong, index)


def unstretched(word: str) -> Iterator[str]:
    """`goooood` and `coooolll` with each stretched letter once or twice; of `?!!` the first mark."""
    if _RUN.fullmatch(word):
        yield word[0]
        return
    pieces = _STRETCHED.split(word)[:9]
    if len(pieces) > 1:
        for times in product((1, 2), repeat=len(pieces) // 2):
            letters = [letter * n for letter, n in zip(pieces[1::2], times, strict=True)]
            yield "".join(a + b for a, b in zip(pieces[::2], [*letters, ""], strict=True))


def apart(tag: str, index: Mapping[str, int]) -> list[str]:
    """The known words of a hashtag, `#LoveThis` or `#lovethis`: as few as possible, the frequent ones first."""
    camel = [piece.lower() for piece in _CAMEL.findall(tag)]
    if len(camel) > 1 and any(piece in index for piece in camel):
        return [piece for piece in camel if piece in index]
    text = tag.lower()[:30]
    best: list[tuple[int, int, list[str]] | None] = [(0, 0, [])]
    for end in range(1, len(text) + 1):
        ways = []
        for start in range(end):
            before, piece = best[start], text[start:end]
            if before is not None and piece in index and (len(piece) > 2 or piece in _SHORT):
                ways.append((before[0] + 1, max(before[1], index[piece]), [*before[2], piece]))
        best.append(min(ways, default=None))
    found = best[-1]
    return found[2] if found is not None else []
