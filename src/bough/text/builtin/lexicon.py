"""Look up what the parser sees of a word: its row, or its affixes; and its shape."""

import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

from bough.formats.ptb import unescaped

PAD, UNKNOWN, BEGIN, END = "<pad>", "<unknown>", "<begin>", "<end>"
SPECIALS = (PAD, UNKNOWN, BEGIN, END)
BUCKETS = 2048  # of the affix hash; bucket 0 is the empty affix
AFFIXES = 7  # three prefixes and four suffixes
SHAPES = 42  # 5 cases x digit x hyphen x first word, and the two sentence marks
_BEGIN_SHAPE, _END_SHAPE = 40, 41
_DIGITS = str.maketrans("123456789", "000000000")


@lru_cache(maxsize=1 << 16)
def normal(token: str) -> str:
    """Return the form that a word is looked up by: without treebank escapes, in lower case."""
    return unescaped(token).lower()


def zeroed(word: str) -> str:
    """Return the word with every digit a zero."""
    return word.translate(_DIGITS)


@lru_cache(maxsize=1 << 16)
def affixes(word: str) -> tuple[int, ...]:
    """Return the hash buckets of the prefixes of 1 to 3 and suffixes of 1 to 4 letters."""
    word = zeroed(word)
    pieces = [f"{word[:n]}-" if len(word) > n else "" for n in (1, 2, 3)]
    pieces += [f"-{word[-n:]}" if len(word) > n else "" for n in (1, 2, 3, 4)]
    return tuple(1 + zlib.crc32(p.encode("utf-8", "replace")) % (BUCKETS - 1) if p else 0 for p in pieces)


class Lexicon:
    """The vocabulary of the parser, `SPECIALS` first; unknown numbers are looked up as zeros."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        if tuple(self.words[: len(SPECIALS)]) != SPECIALS:
            raise ValueError(f"a parser's vocabulary starts with {' '.join(SPECIALS)}, not {self.words[:4]}")
        self.index = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def find(self, token: str) -> int:
        """Return the row of a word, the row of `UNKNOWN` if it has none."""
        word = normal(token)
        return self.index[word] if word in self.index else self.index.get(zeroed(word), self.index[UNKNOWN])

    def rows(self, sentence: Sequence[str]) -> list[int]:
        """Return the rows of the words of a sentence, between those of `BEGIN` and `END`."""
        return [self.index[BEGIN], *map(self.find, sentence), self.index[END]]


def shapes(words: Sequence[str], first: int = 1) -> list[int]:
    """Return the shapes of words, between `BEGIN` and `END`; the first `first` start a sentence."""
    found = [_shape_of(word) + (place < first) for place, word in enumerate(words)]
    return [_BEGIN_SHAPE, *found, _END_SHAPE]


@lru_cache(maxsize=1 << 16)
def _shape_of(token: str) -> int:
    letters = [c for c in token if c.isalpha()]
    if not letters:
        case = 0
    elif all(not c.isupper() for c in letters):
        case = 1
    elif token[:1].isupper() and all(not c.isupper() for c in letters[1:]):
        case = 2
    elif all(c.isupper() for c in letters):
        case = 3
    else:
        case = 4
    return 8 * case + 4 * any(c.isdigit() for c in token) + 2 * ("-" in token[1:-1])
