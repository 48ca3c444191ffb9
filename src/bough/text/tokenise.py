"""Text to words as the Penn Treebank cuts them, each with its place in the text; and text to sentences.

`don't` is `do n't`, `it's` is `it 's`, `cannot` is `can not`, and `dont` and `im` are the words they were meant to be,
`do n't` and `i 'm`; hyphens, slashes within words, URLs, emoticons
and the dots of abbreviations stay where they are. A token's `text` is the treebank's form: quotes are
`` `` `` and `''`, or `` ` `` and `'`, every dash is `--`, an ellipsis is `...`; `start` and `end` still point
at what was written. White space and control characters are part of no token.

A pattern is tried at each place, and each way it can fail looks at a bounded number of characters: the
time is linear in the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bough.data.emoji import is_picture
from bough.formats.escapes import BRACKETS
from bough.text.patterns import PLAIN, TOKEN
from bough.text.words import word_set

_CLITIC = re.compile(r"(?i)(?:n['\u2019]t|['\u2019](?:s|m|d|re|ve|ll))\Z")
_LONE = re.compile("[\ud800-\udfff]")
_HALVES = {"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "gimme": 3, "lemme": 3, "'tis": 2, "'twas": 2}
# without the apostrophe that people leave out; not where it would be another word: were, well, its, ill, shed
_HALVES |= {
    f"{verb}nt": len(verb)
    for verb in word_set("do does did is are was were ca could wo would should have has had ai must need")
}
_HALVES |= dict.fromkeys(("im", "hes"), -1) | {
    word: -len(end)
    for end, words in {
        "s": "whats thats theres shes whos hows heres",
        "re": "youre theyre",
        "ve": "ive youve weve theyve couldve wouldve shouldve",
    }.items()
    for word in words.split()
}
_LEFT_OUT = {"nt": "n't", "m": "'m", "s": "'s", "re": "'re", "ve": "'ve"}
_APOSTROPHES = str.maketrans("\u2018\u2019\u2010\u2011", "''--", "\u00ad")

_ABBREVIATIONS = word_set(
    "mr mrs ms dr jr sr prof st mt vs etc al inc ltd corp co bros dept univ assn ave blvd est "
    "approx jan feb apr aug sept oct nov dec ph.d"
)
_TITLES = word_set("Gen Col Lt Sgt Capt Maj Cmdr Rep Sen Gov Rev Hon Pres Sep Sat Fig Vol Messrs Mme Mlle")
_INITIAL = re.compile(r"\.(?:\s{1,3}[^\W\d]|,)")
_NUMBER = re.compile(r"\.\s{0,3}\d")
_MAY_END = word_set("etc. inc. ltd. corp. co. bros. jr. sr. al. a.m. p.m. u.s. u.k. u.n. e.u. d.c. l.a.")
_OPENERS = word_set(
    "The A An This That These Those He She It We They I You In On At But And If As There What"
)
_CLOSING = frozenset(["''", "'", ")", "]", "}"])
_OPENING = frozenset(["``", "`", "(", "[", "{"])


class Token(NamedTuple):
    """One word: its treebank form, and where it stands in the text."""

    text: str
    start: int
    end: int


def tokenise(text: str) -> list[Token]:
    """The tokens of a text, first to last.

    >>> [token.text for token in tokenise('She said "I can\\'t".')]
    ['She', 'said', '``', 'I', 'ca', "n't", "''", '.']
    """
    tokens: list[Token] = []
    place = 0
    while True:
        while (plain := PLAIN.match(text, place)) is not None and plain[1].lower() not in _HALVES:
            start, place = plain.span(1)
            tokens.append(Token(plain[1], start, place))
        if (match := TOKEN.search(text, place)) is None:
            return tokens
        tokens.extend(_tokens_of(text, match))
        place = tokens[-1].end


def sentences(text: str) -> list[list[Token]]:
    """The tokens of a text, sentence by sentence; a blank line ends a sentence too.

    >>> [len(sentence) for sentence in sentences("Dr. No won. She did n't!")]
    [4, 4]
    """
    found: list[list[Token]] = []
    tokens = tokenise(text)
    start = 0
    one_line = "\n" not in text and "\u2029" not in text
    for place in range(1, len(tokens)):
        if one_line and tokens[place - 1].text[-1].isalnum():
            continue  # within a line a sentence ends with a mark
        if _ends_before(text, tokens, start, place):
            found.append(tokens[start:place])
            start = place
    if tokens:
        found.append(tokens[start:])
    return found


def _tokens_of(text: str, match: re.Match[str]) -> Iterator[Token]:
    start, end = match.span()
    kind, written = match.lastgroup, match[0]
    if kind == "word" or kind == "letters":
        yield from _word(text, start, end)
    elif kind == "url":
        closers = "" if "(" in written else ")"
        kept = len(written.rstrip(".,;:!?'\"\u2019]}" + closers))
        yield Token(written[:kept], start, start + kept)
    elif kind == "quote":
        yield Token(_quote(text, start, written), start, end)
    elif kind == "apostrophe":
        yield Token(_single_quote(text, start, written), start, end)
    elif kind == "short":
        yield from _parts(written, start)
    else:
        fixed = {"dots": "...", "dash": "--", "bracket": BRACKETS.get(written.upper())}.get(kind or "")
        yield Token(fixed or _visible(written.translate(_APOSTROPHES)), start, end)


def _word(text: str, start: int, end: int) -> Iterator[Token]:
    """A word with its abbreviation dot taken in and its clitics cut off."""
    written = text[start:end]
    if text[end : end + 1] == "." and _takes_dot(text, written, end):
        yield Token(written.translate(_APOSTROPHES) + ".", start, end + 1)
        return
    yield from _parts(written, start)


def _takes_dot(text: str, written: str, end: int) -> bool:
    if len(written) == 1:
        return written.isupper() and written != "I" and _INITIAL.match(text, end) is not None
    if written.lower() == "no":
        return _NUMBER.match(text, end) is not None
    return written.lower() in _ABBREVIATIONS or written in _TITLES


def _parts(written: str, start: int) -> Iterator[Token]:
    cuts = [len(written)]
    while len(cuts) < 4 and (clitic := _CLITIC.search(written, max(0, cuts[-1] - 3), cuts[-1])) is not None:
        if clitic.start() == 0:
            break
        cuts.append(clitic.start())
    half = _HALVES.get(written[: cuts[-1]].translate(_APOSTROPHES).lower())
    if half:
        cuts.append(half if half > 0 else cuts[-1] + half)
    low = 0
    for high in reversed(cuts):
        text = _visible(written[low:high].translate(_APOSTROPHES)) or written[low:high]
        if half and low == cuts[-1]:
            text = _LEFT_OUT.get(text.lower(), text)
        yield Token(text, start + low, start + high)
        low = high


def _quote(text: str, start: int, written: str) -> str:
    if written in ("``", "''"):
        return written
    if written in "\u201c\u201e\u201f\u00ab":
        return "``"
    if written in "\u201d\u00bb":
        return "''"
    return "``" if _opens(text, start, start + 1) else "''"


def _single_quote(text: str, start: int, written: str) -> str:
    if written in "`\u2018\u201a\u201b":
        return "`"
    return "`" if written == "'" and _opens(text, start, start + 1) else "'"


def _opens(text: str, start: int, end: int) -> bool:
    """A straight quote opens after space, a bracket, a dash or another quote, unless space follows it."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return (before == "" or before.isspace() or before in "([{-\u2013\u2014/\"'`\u201c\u2018") and (
        after != "" and not after.isspace()
    )


def _visible(text: str) -> str:
    """Lone surrogates, left over from bytes that are not UTF-8, cannot be written: U+FFFD stands for each."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def _closes(token: str) -> bool:
    """Whether it may stand behind the mark that ends a sentence, and still be of that sentence."""
    return token in _CLOSING or (not token[0].isalnum() and is_picture(token))


def _ends_before(text: str, tokens: list[Token], start: int, place: int) -> bool:
    """Whether a sentence that started at token `start` is over before token `place`."""
    gap = text[tokens[place - 1].end : tokens[place].start]
    if gap.count("\n") >= 2 or "\u2029" in gap:
        return True
    last = place - 1
    while last > max(start, place - 4) and _closes(tokens[last].text):
        last -= 1
    mark = tokens[last].text
    here = tokens[place].text
    if (here in _CLOSING and not gap) or (_closes(here) and here not in _CLOSING):
        return False  # an emoji goes with what stands before it
    next_word = next((t.text for t in tokens[place : place + 3] if t.text not in _OPENING), "")
    lower = next_word[:1].islower()
    if mark == ".":
        return not (lower and last < place - 1) and here != "..."
    if mark and mark[0] in "!?":
        return not lower and here not in "!?.,;:"
    if mark == "...":
        return next_word[:1].isupper() and bool(gap)
    return mark.lower() in _MAY_END and next_word in _OPENERS and bool(gap)
