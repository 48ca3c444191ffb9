"""Split words into the subwords of an encoder's tokenizer, and long texts into windows."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.formats.ptb import unescaped
from bough.text.tokenise import printable

Ints = NDArray[np.int64]


class Encoded(NamedTuple):
    """A text: the subwords of each window, and `words` (n, 3): the window, the first and the end subword of each word.

    Indices of subwords are relative to the window, and include special subwords.
    """

    windows: list[Ints]
    words: Ints


class SubwordTokenizer:
    """A fast tokenizer of `transformers` for texts that are already split into words.

    Args:
        tokenizer: the tokenizer of the encoder.
        limit: the number of subwords that the encoder reads at once, including special ones. A
            longer text is split into windows that overlap by half; each word is read in the window
            where it has most context.
    """

    def __init__(self, tokenizer: Any, limit: int) -> None:
        if not getattr(tokenizer, "is_fast", False):
            name = type(tokenizer).__name__
            raise ValueError(f"{name} is not a fast tokenizer; only fast ones map subwords to characters")
        self.tokenizer, self.limit = tokenizer, limit
        self._overlap = (limit - tokenizer.num_special_tokens_to_add()) // 2
        if self._overlap < 1:
            raise ValueError(f"the encoder reads {limit} subwords at once; a sentence needs more")

    def encode(self, texts: Sequence[Sequence[str]]) -> list[Encoded]:
        """Return the windows of subwords of each text, and the subwords of each word."""
        encoded = self._encode(texts, split_special_tokens=True)  # a text may contain "[SEP]"
        for i, (words, one) in enumerate(zip(texts, encoded, strict=True)):
            dropped = one.words[:, 1] == one.words[:, 2]
            # the tokenizer removes all characters of these words, so replace them by the unknown token
            if dropped.any():
                unknown = self.tokenizer.unk_token or "a"
                known = [unknown if gone else word for word, gone in zip(words, dropped, strict=True)]
                (encoded[i],) = self._encode([known], split_special_tokens=False)
        return encoded

    def _encode(self, texts: Sequence[Sequence[str]], *, split_special_tokens: bool) -> list[Encoded]:
        if not texts:
            return []
        written = [detokenise(words) for words in texts]
        options = {"truncation": True, "max_length": self.limit, "stride": self._overlap, "verbose": False}
        options |= {"return_overflowing_tokens": True, "return_offsets_mapping": True}
        options |= {"return_attention_mask": False, "split_special_tokens": split_special_tokens}
        found = self.tokenizer([text for text, _ in written], **options)
        encoded = [Encoded([], np.zeros((len(words), 3), dtype=np.int64)) for words in texts]
        # the number of subwords between each word and the nearer end of its window
        context = [np.full(len(words), -1) for words in texts]
        for window, text in enumerate(found["overflow_to_sample_mapping"]):
            spans, one = written[text][1], encoded[text]
            number = len(one.windows)
            one.windows.append(np.array(found["input_ids"][window], dtype=np.int64))
            own = [i for i, sequence in enumerate(found.sequence_ids(window)) if sequence is not None]
            if not own or not len(spans):
                continue
            before = own[0]  # special subwords at the beginning
            offsets = np.array(found["offset_mapping"][window], dtype=np.int64)[before : own[-1] + 1]
            start = int(np.searchsorted(spans[:, 1], offsets[0, 0], "right"))
            end = int(np.searchsorted(spans[:, 0], offsets[-1, 1], "left"))
            bounds = align(spans[start:end], offsets)
            there = bounds[:, 0] < bounds[:, 1]
            around = np.minimum(bounds[:, 0], len(offsets) - bounds[:, 1])
            better = np.flatnonzero(there & (around > context[text][start:end]))
            context[text][start + better] = around[better]
            one.words[start + better, 0] = number
            one.words[start + better, 1:] = bounds[better] + before
        return encoded


def align(spans: Ints, offsets: Ints) -> Ints:
    """Return (words, 2) the first and the end subword of each word; they are equal for a word without subwords.

    A subword belongs to the word of its first visible character, or to the next word if it has
    none. A word in which no subword begins has the subwords that cover it.

    Args:
        spans: (words, 2) the characters of each word.
        offsets: (subwords, 2) the characters that each subword covers.
    """
    if not len(spans):
        return np.zeros((0, 2), dtype=np.int64)
    owners = np.searchsorted(spans[:, 1], offsets[:, 0], "right").clip(max=len(spans) - 1)
    words = np.arange(len(spans))
    bounds = np.stack([np.searchsorted(owners, words, side) for side in ("left", "right")], axis=1)
    for word in np.flatnonzero(bounds[:, 0] == bounds[:, 1]).tolist():
        start, end = spans[word]
        covering = np.flatnonzero((offsets[:, 0] < end) & (offsets[:, 1] > start))
        if len(covering):
            bounds[word] = covering[0], covering[-1] + 1
    return bounds


_QUOTES = {"``": '"', "''": '"', "`": "'"}
_NO_SPACE_BEFORE = {",", ".", ";", ":", "!", "?", "%", ")", "]", "}", "'", "...", "\u2026"}
_NO_SPACE_AFTER = {"(", "[", "{", "$", "#"}
_ENDINGS = re.compile(r"n't|'(s|S|re|ve|ll|d|m|t)", re.IGNORECASE)


def detokenise(words: Sequence[str]) -> tuple[str, Ints]:
    """Return the text of some words, and (words, 2) the start and the end of each word in it.

    Spaces are set as usual around contractions and punctuation: `do n't -LRB- yet -RRB- .` is `don't (yet).`
    """
    text, spans = "", list[tuple[int, int]]()
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
    return text, np.array(spans, dtype=np.int64).reshape(-1, 2)
