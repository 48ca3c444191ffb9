"""Decode files: by a byte order mark, as UTF-8, or in the encoding that the user names."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

# longest first: the mark of UTF-32 begins with that of UTF-16
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# guesses, the most usual first: of equally likely ones it is proposed
USUAL = (
    "cp1252",
    "shift_jis",
    "gb18030",
    "euc_kr",
    "big5",
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1256",
    "koi8_r",
)
SAMPLE = 50_000  # bytes that a guess looks at


def check_encoding(name: str | None) -> None:
    """Raise a ValueError unless Python knows the encoding, or the name is None."""
    try:
        b"a".decode(name or "utf-8", "replace")
    except LookupError:
        raise ValueError(f"encoding {name!r}: unknown; give one such as utf-8, cp1252 or utf-16") from None


def encoding_of(start: bytes) -> str:
    """Return the encoding that the first bytes of a file show: UTF-16 or UTF-32 by their mark, else UTF-8.

    Text without a mark whose first or second byte is zero is UTF-16, too.
    """
    for mark, name in MARKS.items():
        if start.startswith(mark):
            return name
    if len(start) > 1 and (start[0] == 0) != (start[1] == 0):
        return "utf-16-le" if start[1] == 0 else "utf-16-be"
    return "utf-8"


def decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[str]:
    """Yield the lines of a file, from pieces of it that may end anywhere, even inside a character."""
    decoder, rest = codecs.getincrementaldecoder(encoding)(), ""
    for piece in pieces:
        *lines, rest = (rest + decoder.decode(piece)).split("\n")
        yield from lines
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest


def likely_encoding(sample: bytes) -> str | None:
    """Return the encoding that a text which is not UTF-8 is probably in, or None if none can be told."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample[:SAMPLE], cp_isolation=list(USUAL)))
    best = min((match.chaos for match in matches), default=0.0)
    names = {name for match in matches if match.chaos == best for name in match.could_be_from_charset}
    return next((name for name in USUAL if name in names), None)
