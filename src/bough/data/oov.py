"""What to make of a word that is not in the vocabulary: case, accents, digits, parts and affixes, in this order.

Of words as people write them also: emoji and emoticons, stretched letters, hashtags, addresses, slips of the pen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from bough.data.emoji import bare_emoji, words_of_sign
from bough.data.typos import apart, likeliest, slip, unstretched
from bough.formats.escapes import unescaped

LONGEST = 60  # letters; what is longer is no word, and is not taken apart
_STRETCHED = re.compile(r"(\w)\1{2,}")
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


def _table(text: str) -> dict[str, str]:
    return dict(re.findall(r"(\S+)=(\S*)", text))


_SMALL = _table(
    "0=zero 1=one 2=two 3=three 4=four 5=five 6=six 7=seven 8=eight 9=nine 10=ten 11=eleven 12=twelve"
)
# what is cut off, and what may be put back, in this order
_SUFFIXES = _table("""
    's= iest=y ier=y ies=y,ie ied=y ily=y iness=y less= lessly= lessness= fully=ful, ically=ic,ical ably=able,
    ness= ment= ingly=ing,,e edly=ed,,e ing=,e able=,e est=,e ful= ish=,e ism=,e ist=,e like= ly=,le
    ed=,e er=,e es=,e s= y=,e
""")
# what is cut off, and the word that stands for it where that turns the meaning
_TURNS = _table("less=without lessly=without lessness=without")
_PREFIXES = _table("""
    un=not non=not dis=not im=not in=not mis=wrong anti=against counter=against
    over= under= super= hyper= ultra= mega= pseudo= semi= inter= multi= post= pre= out= re=
""")
_SENSES = {sense for sense in (*_TURNS.values(), *_PREFIXES.values()) if sense}
_SHORTEST_STEM = 3

Rows = tuple[int, ...]


def rows_for(word: str, index: Mapping[str, int], *, written: bool = False) -> Rows:
    """The rows whose mean stands for a word; none for a word of which nothing is known.

    `index` has the row of every known word. `written` says that the word may be written as people write: then
    words stand in the index by how frequent they are, the most frequent first.
    """
    if written and (found := _as_written(word, index)):
        return found
    if len(word) > LONGEST:
        return ()
    for form in _forms(word):
        found = _whole(form, index) or _number(form, index)
        if found:
            return found
    lower = _plain(word)
    found = _parts(lower, index) or _stem(lower, index)
    if written and not found and (near := slip(lower, index)) is not None:
        return (index[near],)
    return found


def _as_written(word: str, index: Mapping[str, int]) -> Rows:
    """What stands for a word before its parts are looked at; for a plain one nothing."""
    for form in (word, word.lower(), bare_emoji(word)):
        if form in index:
            return (index[form],)
    if word.startswith("#") and len(word) > 1:
        return tuple(index[part] for part in apart(word[1:], index)) or rows_for(
            word[1:], index, written=True
        )
    if (short := likeliest(unstretched(_plain(word)), index)) is not None:
        return (index[short],)
    return tuple(index[name] for name in words_of_sign(word) if name in index)


def candidates(words: Iterable[str]) -> set[str]:
    """Everything that `rows_for` may look up for these words: what an index must be asked beforehand."""
    asked = _Asked()
    for word in words:
        rows_for(word, asked)
    return asked.forms and asked.forms | _SENSES


class _Asked(dict[str, int]):
    """An index that knows no word and remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: set[str] = set()

    def __contains__(self, form: object) -> bool:
        self.forms.add(str(form))
        return False


def _whole(form: str, index: Mapping[str, int]) -> Rows:
    return (index[form],) if form in index else ()


def _plain(word: str) -> str:
    """Lower case, compatible characters joined, accents taken off."""
    if word.isascii():
        return unescaped(word).lower()
    taken = unicodedata.normalize("NFKD", unescaped(word).casefold())
    return "".join(letter for letter in taken if not unicodedata.combining(letter))


def _forms(word: str) -> Iterator[str]:
    """Spellings of the same word, likeliest first."""
    yield word
    yield unescaped(word)
    yield unescaped(word).lower()
    if word.isupper():
        yield word.capitalize()
    plain = _plain(word)
    yield plain
    if _STRETCHED.search(plain):  # soooo, coooool
        yield _STRETCHED.sub(r"\1", plain)
        yield _STRETCHED.sub(r"\1\1", plain)


def _number(form: str, index: Mapping[str, int]) -> Rows:
    if not any(letter.isdigit() for letter in form):
        return ()
    if form.isdecimal() and len(form) <= 2 and (small := _SMALL.get(str(int(form)))) and small in index:
        return (index[small],)
    for pattern, standing in _NUMBERS:
        if pattern.fullmatch(form):
            return next(((index[word],) for word in standing if word in index), ())
    return ()


def _parts(word: str, index: Mapping[str, int]) -> Rows:
    """Every known part of a compound: `made-for-tv`, `and/or`, `wide-eyed`."""
    parts = [part for part in _BREAKS.split(word) if part]
    if len(parts) < 2:
        parts = [part for part in re.split(r"(\d+)", word) if part]
        if len(parts) < 2:
            return ()
    return tuple(
        row for part in parts for row in (_whole(part, index) or _number(part, index) or _stem(part, index))
    )


def _stem(word: str, index: Mapping[str, int], depth: int = 2) -> Rows:
    """The word without a suffix or a prefix, at most `depth` of them; `un-` leaves a `not` beside the stem."""
    if depth == 0:
        return ()
    for rest, sense in (*_without_suffix(word), *_without_prefix(word)):
        found = _whole(rest, index)
        if found:
            return found if sense is None or sense not in index else (*found, index[sense])
    for rest, sense in (*_without_prefix(word), *_without_suffix(word)):
        found = _stem(rest, index, depth - 1)
        if found:
            return found if sense is None or sense not in index else (*found, index[sense])
    return ()


def _without_suffix(word: str) -> Iterator[tuple[str, str | None]]:
    for suffix, endings in _SUFFIXES.items():
        stem = word.removesuffix(suffix)
        if len(stem) < 2 or stem == word:
            continue
        sense = _TURNS.get(suffix)
        for ending in endings.split(","):
            if len(stem + ending) >= _SHORTEST_STEM:
                yield stem + ending, sense
        if suffix[0] in "aeiy" and stem[-1] == stem[-2] and len(stem) > _SHORTEST_STEM:  # stopped, bigger
            yield stem[:-1], sense


def _without_prefix(word: str) -> Iterator[tuple[str, str | None]]:
    for prefix, sense in _PREFIXES.items():
        stem = word.removeprefix(prefix)
        if len(stem) > _SHORTEST_STEM and stem != word:
            yield stem, sense or None
