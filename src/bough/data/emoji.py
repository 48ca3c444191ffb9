"""Words for emoticons, emoji, addresses and account names."""

import re
import unicodedata
from functools import lru_cache

_FACE = re.compile(r"[:;=][\^'o]?-?[()\[\]DPpOo/\\|*3]{1,8}|<3+|[xX]D+")
_TONES = re.compile("[\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|\u200d.*")
_ADDRESS = re.compile(r"(?i)(?:https?://|ftp://|www\.).+|\S+\.(?:com|org|net|edu|gov|co\.uk)(?:/.*)?")
_MOUTHS = dict.fromkeys(")]d", "happy") | dict.fromkeys("([", "sad") | dict.fromkeys("/\\|", "annoyed")
_MOUTHS |= {"p": "fun", "o": "surprised", "*": "kiss", "3": "love"}
# the word for each emoji whose Unicode name does not describe its meaning
_MEANT = {
    emoji: word
    for word, emojis in {
        "happy": "😀😃😄😁😆😊☺🙂😇🤗😺😸☀🌞",
        "laughing": "😂🤣😹😝😜🤪😛",
        "love": "❤♥😍🥰😘💕💖💗💓💘💙💚💛💜🧡💞😻🖤💝",
        "great": "👏🔥💯✨⭐🌟🏆💪🙌🤩👌😎",
        "good": "👍✅✔",
        "celebrate": "🎉🥳🎊🎂🍾🥂",
        "thanks": "🙏",
        "bad": "👎❌🚫",
        "sad": "😢😭😞😔☹🙁😟😥😿😪🥺",
        "heartbroken": "💔",
        "angry": "😠😡🤬👿😤🖕",
        "annoyed": "🙄😒😑😐😕🤦😩😫😣😖🤨",
        "disgusting": "🤢🤮💩🤧",
        "afraid": "😱😨😰😧😬",
        "fun": "😋😉😏",
        "wonder": "🤔🤷😳😮😯😲",
    }.items()
    for emoji in emojis
}
_SILENT = {
    "face", "with", "and", "of", "the", "in", "on", "for", "sign", "symbol", "mark", "button",
    "black", "white", "heavy", "shaped", "medium", "small", "large",
}  # fmt: skip


def is_address(token: str) -> bool:
    """Return whether a token is an account name such as @somebody, a URL or an email address."""
    if token.isalpha() or len(token) < 3:
        return False
    if "@" in token[:-1]:
        return token[0] != "@" or token[1].isalpha()
    return _ADDRESS.fullmatch(token) is not None


@lru_cache(maxsize=1 << 14)
def words_of_sign(token: str) -> tuple[str, ...]:
    """Return the words for an emoticon, an emoji or an address; none for other tokens.

    >>> words_of_sign(":-("), words_of_sign("\\N{AIRPLANE}"), words_of_sign("@somebody")
    (('sad',), ('airplane',), ('someone',))
    """
    if not token or (token.isalpha() and token[0] not in "xX"):
        return ()
    if _FACE.fullmatch(token):
        return ("sad",) if "'" in token else (_MOUTHS[token[-1].lower()],)
    if is_address(token):
        return ("someone",) if token[0] == "@" else ("website",)
    bare = bare_emoji(token)
    if bare in _MEANT:
        return (_MEANT[bare],)
    if len(bare) == 1 and unicodedata.category(bare) == "So":
        names = re.split(r"[^a-z]+", unicodedata.name(bare, "").lower())
        return tuple(name for name in names if len(name) > 1 and name not in _SILENT)
    return ()


def bare_emoji(token: str) -> str:
    """Return an emoji without its skin tone, its variation selector and joined emoji."""
    return token if token.isascii() else _TONES.sub("", token)


def is_picture(token: str) -> bool:
    """Return whether a token is an emoticon or an emoji."""
    if token.isascii():
        return _FACE.fullmatch(token) is not None
    bare = bare_emoji(token)
    return bare in _MEANT or (len(bare) == 1 and unicodedata.category(bare) == "So")
