"""Which pieces of an encoder's tokenizer are which word's, exactly, and long texts in windows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.formats.escapes import printable, unescaped

Ints = NDArray[np.int64]


class Encoded(NamedTuple):
    """One text: the pieces of each window, and for each word (n, 3) its window, its first piece and the one after.

    Places are those within the window, whose special pieces count.
    """

    windows: list[Ints]
    words: Ints


class Pieces:
    """A fast tokenizer of `transformers`, and how many pieces its encoder reads at once."""

    def __init__(self, tokenizer: Any, limit: int) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise ValueError(
                f"{type(tokenizer).__name__} is not a fast tokenizer; only those say which characters a piece covers"
            )
        self.tokenizer = tokenizer
        self.prefix, self.suffix = self._special()
        self.limit = limit - len(self.prefix) - len(self.suffix)
        if self.limit < 2:
            raise ValueError(f"an encoder of {limit} pieces at once; a sentence needs more")

    def _special(self) -> tuple[list[int], list[int]]:
        """The pieces that the encoder expects before and after a text."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        whole = self.tokenizer("a")["input_ids"]
        for start in range(len(whole) - len(bare) + 1):
            if whole[start : start + len(bare)] == bare:
                return whole[:start], whole[start + len(bare) :]
        return [], []

    def encode(self, texts: Sequence[Sequence[str]]) -> list[Encoded]:
        """Every text's pieces, with those of each of its words."""
        return [
            self._windows(ids, bounds)
            for ids, bounds in self._aligned([written(words) for words in texts], [*texts])
        ]

    def _aligned(
        self, texts: list[tuple[str, list[Span]]], words: list[Sequence[str]]
    ) -> list[tuple[Ints, Ints]]:
        if not texts:
            return []
        found = self.tokenizer(
            [text for text, _ in texts],
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            split_special_tokens=True,  # a text may speak of "[SEP]"
            truncation=False,
            verbose=False,
        )
        aligned = []
        for (text, spans), own, ids, offsets in zip(
            texts, words, found["input_ids"], found["offset_mapping"], strict=True
        ):
            bounds = align(text, spans, offsets)
            lost = {*np.flatnonzero(bounds[:, 0] == bounds[:, 1]).tolist()}
            if lost:  # characters that the tokenizer drops: the word is an unknown one
                unknown = self.tokenizer.unk_token or "a"
                replaced = [unknown if place in lost else word for place, word in enumerate(own)]
                ids, bounds = self._one(written(replaced))
            aligned.append((np.array(ids, dtype=np.int64), bounds))
        return aligned

    def _one(self, given: tuple[str, list[Span]]) -> tuple[Any, Ints]:
        text, spans = given
        found = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return found["input_ids"], align(text, spans, found["offset_mapping"])

    def _windows(self, ids: Ints, bounds: Ints) -> Encoded:
        before, after = (np.array(some, dtype=np.int64) for some in (self.prefix, self.suffix))
        words = np.concatenate([np.zeros((len(bounds), 1), dtype=np.int64), bounds], axis=1)
        windows = []
        chosen = np.full(len(bounds), -1)  # how far each word is from the nearer edge of its window
        for number, (low, high) in enumerate(overlapping(bounds, len(ids), self.limit)):
            windows.append(np.concatenate([before, ids[low:high], after]))
            start, end = np.searchsorted(bounds[:, 1], low, "right"), np.searchsorted(bounds[:, 0], high)
            first, last = np.maximum(bounds[start:end, 0], low), np.minimum(bounds[start:end, 1], high)
            depth = np.minimum(bounds[start:end, 0] - low, high - bounds[start:end, 1]).clip(0)
            better = np.flatnonzero((first < last) & (depth > chosen[start:end]))
            chosen[start + better] = depth[better]
            found = np.stack([np.full(len(first), number), first - low, last - low], axis=1)
            words[start + better] = found[better]
        words[:, 1:] += len(before)
        return Encoded(windows, words)


def align(text: str, spans: Sequence[Span], offsets: Sequence[Span]) -> Ints:
    """(words, 2) the first piece of each word and the one after its last, for pieces with characters `offsets`.

    A piece is the word's in which its first visible character lies; one without any opens the next word. A word in
    which none starts shares those that cover it; where there are none either, the two are equal.
    """
    at = np.full(len(text), -1, dtype=np.int64)  # whose each character is
    for word, (start, end) in enumerate(spans):
        at[start:end] = word
    owners = np.full(len(offsets), -1, dtype=np.int64)
    covering: dict[int, list[int]] = {}
    for piece, (start, end) in enumerate(offsets):
        visible = [word for word in dict.fromkeys(at[start:end].tolist()) if word >= 0]
        owners[piece] = visible[0] if visible else -1
        for word in visible:
            covering.setdefault(word, []).append(piece)
    following = max(
        int(owners.max(initial=0)), 0
    )  # what has no visible character opens the next word, or ends the last
    for piece in reversed(range(len(offsets))):
        owners[piece] = following = owners[piece] if owners[piece] >= 0 else following
    words = np.arange(len(spans))
    bounds = np.stack([np.searchsorted(owners, words, side) for side in ("left", "right")], axis=1)
    for word in np.flatnonzero(bounds[:, 0] == bounds[:, 1]).tolist():
        if word in covering:
            bounds[word] = covering[word][0], covering[word][-1] + 1
    return bounds


def overlapping(bounds: Ints, pieces: int, limit: int) -> list[tuple[int, int]]:
    """Windows of at most `limit` pieces that start at words; each overlaps the one before by about a half."""
    if pieces <= limit:
        return [(0, pieces)]
    starts = np.unique(bounds[:, 0])
    found, low = list[tuple[int, int]](), 0
    while True:
        high = min(low + limit, pieces)
        if high < pieces:  # a word is not cut in two, unless it is longer than a window
            high = _last(starts, low, high) or high
        found.append((low, high))
        if high == pieces:
            return found
        low = _last(starts, low, (low + high) // 2) or high


def _last(starts: Ints, low: int, high: int) -> int:
    """The last start above `low`, up to `high`; 0 if there is none."""
    place = int(np.searchsorted(starts, high, "right")) - 1
    return int(starts[place]) if place >= 0 and starts[place] > low else 0


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
