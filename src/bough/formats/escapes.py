r"""Words as people write them: `(` for the Penn Treebank's `-LRB-`, `/` for its `\/`.

Bracketed files lose their escapes when they are read (`bough.formats.ptb`). Pointer files and word lists
come as they stand, and some of theirs are escaped.
"""

from __future__ import annotations

import re

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = re.compile(r"-[LR][RSC]B-|\\[/*]")


def unescaped(token: str) -> str:
    """The token with every escape undone."""
    return _ESCAPED.sub(lambda match: BRACKETS.get(match[0], match[0][-1]), token)


def printable(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which no file can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
