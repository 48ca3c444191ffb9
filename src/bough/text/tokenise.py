"""Split text into sentences and words as the Penn Treebank has them.

`don't` becomes `do n't`, `it's` becomes `it 's`, `cannot` becomes `can not`. Missing apostrophes
are restored: `dont` becomes `do n't`. Hyphens, slashes within words, URLs, emoticons and the dots of
abbreviations stay. Each Chinese or Japanese character is a token. The `text` of a token has the
treebank's form: quotes are `` `` `` and `''`, or `` ` `` and `'`, every dash is `--`, an ellipsis
is `...`; `start` and `end` point at what was written. White space and control characters are part
of no token.

Every alternative of the pattern either matches or fails within a bounded number of characters, or
consumes all that it has looked at: the time is linear in the text, whatever the text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bough.data.emoji import is_address, is_picture
from bough.formats.ptb import BRACKETS

_CLITIC = re.compile(r"(?i)(?:n['\u2019]t|['\u2019](?:s|m|d|re|ve|ll))\Z")
_HALVES = {"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "gimme": 3, "lemme": 3, "'tis": 2, "'twas": 2}
# contractions without their apostrophe, except those that are other words: were, well, its, ill, shed
_HALVES |= {
    f"{verb}nt": len(verb)
    for verb in "do does did is are was were ca could wo would should have has had ai must need".split()
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

_ABBREVIATIONS = {*"mr mrs ms dr jr sr prof st mt vs etc al inc ltd corp co bros dept univ assn".split()}
_ABBREVIATIONS |= {*"ave blvd est approx jan feb apr aug sept oct nov dec ph.d".split()}
_TITLES = {*"Gen Col Lt Sgt Capt Maj Cmdr Rep Sen Gov Rev Hon Pres Sep Sat Fig Vol Messrs Mme Mlle".split()}
_INITIAL = re.compile(r"\.(?:\s{1,3}[^\W\d]|,)")
_NUMBER = re.compile(r"\.\s{0,3}\d")
_MAY_END = {*"etc. inc. ltd. corp. co. bros. jr. sr. al. a.m. p.m. u.s. u.k. u.n. e.u. d.c. l.a.".split()}
_OPENERS = {*"The A An This That These Those He She It We They I You In On At But And If As".split()}
_OPENERS |= {"There", "What"}
_CLOSING = {"''", "'", ")", "]", "}"}
_OPENING = {"``", "`", "(", "[", "{"}


# Marks that Python does not count as letters but that stand inside words: accents, vowel points, joiners.
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200c\u200d\u20d0-\u20f0"
)
_W = rf"[\w{_MARKS}]"
_EMOJI = "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u25aa-\u27bf\u2934-\u2b55"
_EMOJI += "\U0001f000-\U0001faff]"
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_TONE = "[\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]{0,8}"

TOKEN = re.compile(
    rf"""
    (?P<url> (?<!\w)(?:https?://|ftp://|www\.)[^\s<>"\u201c\u201d\x00-\x1f]{{1,2000}}
           | (?<!\w)\w[\w.+\-]{{0,63}}@[\w\-]{{1,63}}(?:\.[\w\-]{{1,63}}){{1,8}}
           | (?<![\w.])\w[\w\-]{{0,62}}\.(?:com|org|net|edu|gov|co\.uk)(?![\w])(?:/[^\s<>"\x00-\x1f]{{0,2000}})? )
  | (?P<tag> (?<!\w)[\#@][^\W\d]\w{{0,99}}+ )
  | (?P<face> (?<!\w)[:;=][\^'o]?-?[()\[\]DPpOo/\\|*3]{{1,8}}(?!\w) | <3+(?!\w) )
  | (?P<emoji> [\U0001f1e6-\U0001f1ff]{{2}} | {_EMOJI}{_TONE}(?:\u200d{_EMOJI}{_TONE}){{0,8}} )
  | (?P<dots> \.{{2,}}+ | \u2026+ )
  | (?P<dash> -{{2,}}+ | [\u2010-\u2015\u2212]+ )
  | (?P<bracket> -[LR][RSC]B- )
  | (?P<quote> ``|''|["\u201c-\u201f\u00ab\u00bb] )
  | (?P<letters> (?<!\w)(?:[^\W\d_]\.){{1,11}}[^\W\d_](?:\.|(?![\w]))(?:-{_W}+)* )
  | (?P<clitic> (?<!\w)['\u2019](?:s|m|d|re|ve|ll)(?!{_W}) )
  | (?P<short> (?<!\w)['\u2018\u2019](?:em|til|till|cause|bout|n['\u2019]?|tis|twas|\d0s|\d\d)(?!{_W}) )
  | (?P<word> (?:[A-Z]{{1,3}}(?=\$))
            | (?:(?<!\w)\.(?=\d))?{_W}++
              (?:(?:[-\u2010\u2011&/]|['\u2019](?=\w)|(?<=\d)[.,:](?=\d)){_W}++)*+
              (?:-(?=\s|\Z)|(?<=\bol)['\u2019])? )
  | (?P<run> [!?]+ | \*+ | =+ | _+ | ~+ | \++ )
  | (?P<apostrophe> ['`\u2018-\u201b] )
  | (?P<other> [^\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A shortcut for most tokens, where `TOKEN` would find the same: letters up to a blank or a mark that ends a word.
PLAIN = re.compile(r"\s*+([A-Za-z]++)(?=[\s,;!?)]|\Z)")


class Token(NamedTuple):
    """A word in the treebank's form, and where it stands in the text."""

    text: str
    start: int
    end: int


def tokenise(text: str) -> list[Token]:
    """Return the tokens of a text, first to last.

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
    """Return the tokens of a text, sentence by sentence; a blank line ends a sentence, too.

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


def without_addresses(text: Sequence[Sequence[Token]]) -> list[list[Token]]:
    """Return the sentences of a text without account names and addresses, which carry no meaning.

    A text that consists only of these is returned unchanged.

    >>> [token.text for token in without_addresses(sentences("@shop Thanks! www.shop.com"))[0]]
    ['Thanks', '!']
    """
    rest = [[token for token in sentence if not is_address(token.text)] for sentence in text]
    return [sentence for sentence in rest if sentence] or [list(sentence) for sentence in text]


def _tokens_of(text: str, match: re.Match[str]) -> Iterator[Token]:
    start, end = match.span()
    kind, written = match.lastgroup, match[0]
    if kind in ("word", "letters") and text[end : end + 1] == "." and _takes_dot(text, written, end):
        yield Token(written.translate(_APOSTROPHES) + ".", start, end + 1)
    elif kind in ("word", "letters", "short"):
        if written.isascii():
            yield from _split_clitics(written, start)
        else:
            for part in _HAN.finditer(written):
                yield from _split_clitics(part[0], start + part.start())
    elif kind == "url":
        closers = "" if "(" in written else ")"
        kept = len(written.rstrip(".,;:!?'\"\u2019]}" + closers))
        yield Token(written[:kept], start, start + kept)
    elif kind == "quote":
        if written not in ("``", "''"):
            opens = written in "\u201c\u201e\u201f\u00ab" or (written == '"' and _opens(text, start))
            written = "``" if opens else "''"
        yield Token(written, start, end)
    elif kind == "apostrophe":
        opens = written in "`\u2018\u201a\u201b" or (written == "'" and _opens(text, start))
        yield Token("`" if opens else "'", start, end)
    else:
        fixed = {"dots": "...", "dash": "--", "bracket": BRACKETS.get(written.upper())}.get(kind or "")
        yield Token(fixed or printable(written.translate(_APOSTROPHES)), start, end)


def _takes_dot(text: str, written: str, end: int) -> bool:
    """Return whether the dot after a word belongs to it, as in an abbreviation."""
    if len(written) == 1:
        return written.isupper() and written != "I" and _INITIAL.match(text, end) is not None
    if written.lower() == "no":
        return _NUMBER.match(text, end) is not None
    return written.lower() in _ABBREVIATIONS or written in _TITLES


def _split_clitics(written: str, start: int) -> Iterator[Token]:
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
        text = printable(written[low:high].translate(_APOSTROPHES)) or written[low:high]
        if half and low == cuts[-1]:
            text = _LEFT_OUT.get(text.lower(), text)
        yield Token(text, start + low, start + high)
        low = high


def _opens(text: str, start: int) -> bool:
    """Return whether a straight quote opens: after space or a sign, and before no space."""
    before, after = text[start - 1 : start], text[start + 1 : start + 2]
    opens = before == "" or before.isspace() or before in "([{-\u2013\u2014/\"'`\u201c\u2018"
    return opens and after != "" and not after.isspace()


def printable(text: str) -> str:
    """Return the text with U+FFFD for lone surrogates, which come from bytes that are not UTF-8."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _closes(token: str) -> bool:
    """Return whether a token may follow the mark that ends a sentence and still belong to it."""
    return token in _CLOSING or (not token[0].isalnum() and is_picture(token))


def _ends_before(text: str, tokens: list[Token], start: int, place: int) -> bool:
    """Return whether a sentence that starts at token `start` is over before token `place`."""
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
