"""Which texts of many share words with a query: what is worth rating, found without a parser."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from heapq import nlargest

from bough.models.model import Model
from bough.models.stemmer import base

SHORT = 50  # texts on a short list, unless more are asked for
SHARED = 0.5  # of the scale, what sharing every word counts in the order of a short list


def shared_words(
    model: Model, query: Iterable[str], texts: Sequence[str], most: int
) -> list[tuple[int, float]]:
    """The places of the `most` texts that share the rarest words with a query, best first, and how much they share.

    It is the cosine of both texts' words, each word weighing as much as it is rare. One that shares none is left out.
    """
    asked = _weights(model, " ".join(query))
    length = math.sqrt(sum(weight**2 for weight in asked.values())) or 1.0

    def score(text: str) -> float:
        own = _weights(model, text)
        shared = sum(weight**2 for word, weight in own.items() if word in asked)
        return shared / length / math.sqrt(sum(weight**2 for weight in own.values())) if shared else 0.0

    found = ((place, score(text)) for place, text in enumerate(texts))
    return nlargest(most, (pair for pair in found if pair[1]), key=lambda pair: (pair[1], -pair[0]))


def _weights(model: Model, text: str) -> dict[str, float]:
    """The rarity of each word of a text, by the word's base."""
    words = {*re.findall(r"\w+", text.lower())}
    rows = {word: model.index.get(word) for word in words}
    rarity = model.rarity.numpy()
    return {base(word): 1.0 if row is None else float(rarity[row]) for word, row in rows.items()}
