"""Find known words for out-of-vocabulary words: by case, accents, digits, parts and affixes, in this order.

With `written`, also by emoji and emoticons, repeated letters, hashtags, addresses and typos.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from bough.data.emoji import bare_emoji, words_of_sign
from bough.formats.ptb import unescaped

# a text of at least so many words with a larger share of unknown ones is in another language
FEWEST, FOREIGN = 6, 0.3
LONGEST = 60  # characters; a longer token has no rows
_REPEATED = re.compile(r"(\w)\1{2,}")
_BREAKS = re.compile(r"[-/_.'*+&~]+")
_NUMBERS = (
    (re.compile(r"\d+(?:st|nd|rd|th)"), ("5th", "fifth")),
    (re.compile(r"'?\d+0'?s"), ("decade", "years")),
    (re.compile(r"\d{1,2}:\d\d(?:[ap]m)?"), ("1:00", "hour")),
    (re.compile(r"(?:1[5-9]|20)\d\d"), ("year",)),
    (re.compile(r"\d{1,3}(?:,\d{3}){2,}|\d{7,}"), ("million",)),
    (re.compile(r"\d{1,3},\d{3}|\d{4,6}"), ("5,000", "thousand")),
    (re.compile(r"\d{3}"), ("hundred",)),
    (re.compile(r"[-+]?\d*[.,]\d+"), ("0.25", "percent")),
    (re.compile(r"[-+]?\d{1,2}"), ("ten", "five")),
)

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
# each suffix, and the endings that replace it, in the order in which they are tried
_SUFFIXES = {
    suffix: endings.split(",")
    for suffix, endings in re.findall(
        r"(\S+)=(\S*)",
        """
        's= iest=y ier=y ies=y,ie ied=y ily=y iness=y less= lessly= lessness= fully=ful, ically=ic,ical ably=able,
        ness= ment= ingly=ing,,e edly=ed,,e ing=,e able=,e est=,e ful= ish=,e ism=,e ist=,e like= ly=,le
        ed=,e er=,e es=,e s= y=,e
        """,
    )
}
# each prefix, and the word that is added for its meaning, if any
_PREFIXES = {
    **dict.fromkeys(("un", "non", "dis", "im", "in"), "not"),
    "mis": "wrong",
    **dict.fromkeys(("anti", "counter"), "against"),
    **dict.fromkeys(("over", "under", "super", "hyper", "ultra", "mega", "pseudo")),
    **dict.fromkeys(("semi", "inter", "multi", "post", "pre", "out", "re")),
}
_WITHOUT = "without"  # the word that stands for -less
_SHORTEST_STEM = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
# the words of one and two letters that a hashtag may contain
_SHORT = {
    "a", "i", "am", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in",
    "is", "it", "me", "my", "no", "of", "on", "or", "so", "to", "up", "us", "we",
}  # fmt: skip

Rows = tuple[int, ...]


def rows_for(word: str, index: Mapping[str, int], *, written: bool = False) -> Rows:
    """Return the rows whose mean represents a word; none if no part of it is known.

    Args:
        word: any token.
        index: the row of every known word; with `written`, the most frequent words first.
        written: whether to look up emoji, hashtags and typos too.
    """
    if written and (found := _as_written(word, index)):
        return found
    if len(word) > LONGEST:
        return ()
    for form in _forms(word):
        if form in index:
            return (index[form],)
        if found := _number(form, index):
            return found
    plain = _plain(word)
    # a compound has the rows of every known part: `made-for-tv`, `and/or`, `mp3`
    parts = [part for part in _BREAKS.split(plain) if part]
    if len(parts) < 2:
        parts = [part for part in re.split(r"(\d+)", plain) if part]
    rows: list[int] = []
    for part in parts if len(parts) > 1 else ():
        rows += (index[part],) if part in index else _number(part, index) or _stem(part, index)
    found = tuple(rows) or _stem(plain, index)
    if written and not found and (near := correct_typo(plain, index)) is not None:
        return (index[near],)
    return found


def candidates(words: Iterable[str]) -> set[str]:
    """Return all words that `rows_for` may look up, so that only their vectors are loaded."""
    asked = _Asked()
    for word in words:
        rows_for(word, asked)
    return asked.forms and asked.forms | {_WITHOUT, *filter(None, _PREFIXES.values())}


def mostly_unknown(words: Iterable[str], index: Mapping[str, int]) -> float | None:
    """Return the share of unknown words if the text seems to be in another language, else None.

    Only words of letters count. One of the 3,311 sentences of SST's dev and test splits has such a share.
    """
    judged = [word for word in words if word.isalpha()]
    unknown = sum(word not in index and word.lower() not in index for word in judged)
    return unknown / len(judged) if len(judged) >= FEWEST and unknown > FOREIGN * len(judged) else None


class _Asked(dict[str, int]):
    """An empty index that records the words that are looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: set[str] = set()

    def __contains__(self, form: object) -> bool:
        self.forms.add(str(form))
        return False


def _plain(word: str) -> str:
    """Return the word in lower case, in compatibility decomposition (NFKD) and without accents."""
    if word.isascii():
        return unescaped(word).lower()
    letters = unicodedata.normalize("NFKD", unescaped(word).casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _forms(word: str) -> Iterator[str]:
    """Yield spellings of a word, the most likely first."""
    yield word
    yield unescaped(word)
    yield unescaped(word).lower()
    if word.isupper():
        yield word.capitalize()
    plain = _plain(word)
    yield plain
    if _REPEATED.search(plain):  # soooo, coooool
        yield _REPEATED.sub(r"\1", plain)
        yield _REPEATED.sub(r"\1\1", plain)


def _number(form: str, index: Mapping[str, int]) -> Rows:
    """Return the row of a word for a number of a similar kind and size."""
    if not any(letter.isdigit() for letter in form):
        return ()
    if form.isdecimal() and len(form) <= 2 and int(form) < len(_SMALL) and _SMALL[int(form)] in index:
        return (index[_SMALL[int(form)]],)
    for pattern, words in _NUMBERS:
        if pattern.fullmatch(form):
            return next(((index[word],) for word in words if word in index), ())
    return ()


def _stem(word: str, index: Mapping[str, int], depth: int = 2) -> Rows:
    """Return the row of a word without up to `depth` affixes; `un-` adds the row of `not`."""
    if depth == 0:
        return ()
    stems = ((word.removeprefix(prefix), sense) for prefix, sense in _PREFIXES.items())
    prefixes = [(stem, sense) for stem, sense in stems if _SHORTEST_STEM < len(stem) < len(word)]
    suffixes = list(_without_suffix(word))
    for rest, sense in (*suffixes, *prefixes):
        if rest in index:
            return (index[rest],) if sense is None or sense not in index else (index[rest], index[sense])
    for rest, sense in (*prefixes, *suffixes):
        if found := _stem(rest, index, depth - 1):
            return found if sense is None or sense not in index else (*found, index[sense])
    return ()


def _without_suffix(word: str) -> Iterator[tuple[str, str | None]]:
    for suffix, endings in _SUFFIXES.items():
        stem = word.removesuffix(suffix)
        if len(stem) < 2 or stem == word:
            continue
        sense = _WITHOUT if suffix.startswith("less") else None
        for ending in endings:
            if len(stem + ending) >= _SHORTEST_STEM:
                yield stem + ending, sense
        if suffix[0] in "aeiy" and stem[-1] == stem[-2] and len(stem) > _SHORTEST_STEM:  # stopped, bigger
            yield stem[:-1], sense


def _as_written(word: str, index: Mapping[str, int]) -> Rows:
    """Return the rows of an emoji, a hashtag, a word with repeated letters or a sign; else none."""
    for form in (word, word.lower(), bare_emoji(word)):
        if form in index:
            return (index[form],)
    if word.startswith("#") and len(word) > 1:
        parts = split_hashtag(word[1:], index)
        return tuple(index[part] for part in parts) or rows_for(word[1:], index, written=True)
    if (short := most_frequent(without_repeats(_plain(word)), index)) is not None:
        return (index[short],)
    return tuple(index[name] for name in words_of_sign(word) if name in index)


def most_frequent(forms: Iterable[str], index: Mapping[str, int]) -> str | None:
    """Return the known form with the first row, the most frequent one; None if there is none."""
    return min((form for form in forms if form in index), key=index.__getitem__, default=None)


def correct_typo(word: str, index: Mapping[str, int]) -> str | None:
    """Return the most frequent known word that differs from this one by a typo, or None.

    A missing, doubled or swapped letter is tried before a wrong letter. The first letter is taken
    to be right. Only words of 4 to 20 letters are corrected.
    """
    if not (4 <= len(word) <= 20 and word.isascii() and word.isalpha()):
        return None
    cuts = [(word[:i], word[i:]) for i in range(1, len(word) + 1)]
    slight = {left + letter + right for left, right in cuts for letter in _LETTERS}
    slight |= {left + right[1:] for left, right in cuts if right and left[-1] == right[0]}
    slight |= {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    if (found := most_frequent(slight, index)) is not None:
        return found
    wrong = {left + letter + right[1:] for left, right in cuts if right for letter in ("", *_LETTERS)}
    return most_frequent(wrong, index)


def without_repeats(word: str) -> Iterator[str]:
    """Yield `goooood` with each repeated letter once or twice; for `?!!` yield the first mark."""
    if re.fullmatch(r"[!?]{2,}", word):
        yield word[0]
        return
    pieces = _REPEATED.split(word)[:9]
    if len(pieces) > 1:
        for times in product((1, 2), repeat=len(pieces) // 2):
            letters = [letter * n for letter, n in zip(pieces[1::2], times, strict=True)]
            yield "".join(a + b for a, b in zip(pieces[::2], [*letters, ""], strict=True))


def split_hashtag(tag: str, index: Mapping[str, int]) -> list[str]:
    """Return the known words of `LoveThis` or `lovethis`; as few and as frequent as possible."""
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
    return best[-1][2] if best[-1] is not None else []
