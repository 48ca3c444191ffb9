"""A treebank's words as people write them, so that an encoder meets the text that it was trained on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bough.formats.escapes import printable, unescaped

Span = tuple[int, int]  # characters of the text

_QUOTES = {"``": '"', "''": '"', "`": "'"}
_NO_SPACE_BEFORE = {",", ".", ";", ":", "!", "?", "%", ")", "]", "}", "'", "...", "\u2026"}
_NO_SPACE_AFTER = {"(", "[", "{", "$", "#"}
_ENDINGS = re.compile(r"n't|'(s|S|re|ve|ll|d|m|t)", re.IGNORECASE)


def written(words: Sequence[str]) -> tuple[str, list[Span]]:
    """The words as one text, and the characters of it that are each word's.

    Contractions and punctuation stand where people put them: `do n't -LRB- yet -RRB- .` is `don't (yet).`
    """
    text, spans = "", list[Span]()
    # whether a quotation is open, and whether the next word follows without a space
    quoted, joins = False, True
    for word in words:
        sign = _QUOTES.get(word) or printable(unescaped(word))
        opens = closes = False
        if sign == '"':
            opens = word == "``" or (word == '"' and not quoted)
            closes, quoted = not opens, opens
        ends = sign in _NO_SPACE_BEFORE and word != "`"
        closes = closes or ends or _ENDINGS.fullmatch(sign) is not None
        if text and not joins and not closes:
            text += " "
        spans.append((len(text), len(text) + len(sign)))
        text += sign
        joins = opens or sign in _NO_SPACE_AFTER or word == "`"
    return text, spans
