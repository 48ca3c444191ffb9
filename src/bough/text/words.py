"""What a parser can be given: sentences of words; how words compare, and lists of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def word_set(text: str) -> frozenset[str]:
    """The words of a text, with spaces between."""
    return frozenset(text.split())


BE = word_set("be am is are was were been being 's 'm 're ai")


def checked(sentences: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The sentences one by one; a ValueError that names the place where there is no word."""
    for place, words in enumerate(sentences):
        if isinstance(words, str):
            raise ValueError(f"sentence {place} is text, {words[:40]!r}; a parser takes lists of words")
        if not words:
            raise ValueError(f"sentence {place} is empty; a tree has at least one word")
        for number, word in enumerate(words):
            if not word.strip():
                raise ValueError(f"sentence {place}: word {number} is {word!r}; a word has letters or signs")
        yield words


def plain(word: str) -> str:
    """The word in lower case, with a typewriter's apostrophe: `N\u2019T` is `n't`."""
    return word.lower().replace("\u2019", "'")
