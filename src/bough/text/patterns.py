"""The patterns of the tokeniser: what a token can look like, the most special first, and a short cut.

Every alternative either matches or fails within a bounded number of characters, or consumes all it looked
at: no text makes the search slower than linear.
"""

import re

# Marks that Python does not count as letters but that stand inside words: accents, vowel points, joiners.
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200c\u200d\u20d0-\u20f0"
)
_W = rf"[\w{_MARKS}]"
_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u25aa-\u27bf\u2934-\u2b55"
    "\U0001f000-\U0001faff]"
)
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
# What most tokens are, and all that `TOKEN` would find there: letters up to a blank or a mark that ends a word.
PLAIN = re.compile(r"\s*+([A-Za-z]++)(?=[\s,;!?)]|\Z)")
