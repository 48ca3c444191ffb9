"""How related two texts are, what vectors they have, and which of many is nearest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough.model.model import UNKNOWN, Model
from bough.nn.heads import Similarity
from bough.parsing import Parser
from bough.pipeline.reading import Kind, Reader
from bough.pipeline.results import DIGITS, printable, rounded
from bough.pipeline.scorer import AT_ONCE, groups, sentence_vectors, word_rows
from bough.trees.tree import Tree

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Neighbour:
    """A text of a corpus, its place there, and how related it is to the query, 1 to 5."""

    text: str
    score: float
    index: int


@dataclass(frozen=True)
class Relatedness:
    """How related two texts are: `score` from 1 to 5, the expected rating under `probabilities`."""

    a: str
    b: str
    score: float
    probabilities: tuple[float, ...]
    trees: tuple[Tree, Tree]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "a": printable(self.a),
            "b": printable(self.b),
            "score": round(self.score, DIGITS),
            "probabilities": rounded(self.probabilities),
        }

    def json(self) -> str:
        """The same as one line of JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


class RelatednessPipeline:
    """Texts to vectors, pairs of texts to a relatedness from 1 (not at all) to 5 (the same).

    >>> import bough
    >>> related = bough.load("relatedness")
    >>> related.score("A man plays a guitar", "A man plays music") > 3
    True
    """

    def __init__(self, model: Model, parser: str | Parser = "builtin") -> None:
        if not isinstance(model.head, Similarity):
            raise ValueError(f"a model for task {model.config.task!r}; relatedness needs one for 'sick'")
        self.model, self.head = model, model.head
        kind: Kind = "constituency" if model.config.encoder == "constituency" else "dependency"
        self.reader = Reader(parser, kind, split=False)

    # ------------------------------------------------------------------- pairs

    def score(self, a: str, b: str) -> float:
        """How related two texts are, 1 to 5."""
        return self.compare(a, b).score

    def compare(
        self, a: str | None, b: str | None, *, trees: tuple[Tree | str, Tree | str] | None = None
    ) -> Relatedness:
        """The same with the probabilities of the five ratings and both trees; `trees` are one's own."""
        if trees is not None:
            (a, left), (b, right) = (
                self.reader.given(text, tree) for text, tree in zip((a, b), trees, strict=True)
            )
            both = left.tree, right.tree
        elif a is None or b is None:
            raise ValueError("a text is missing; two texts are compared")
        else:
            (left, *_), (right, *_) = self.reader.read([a, b])
            both = left.tree, right.tree
        return self._compared([(a, b)], [both])[0]

    def compare_all(self, pairs: Sequence[tuple[str, str]]) -> list[Relatedness]:
        """`compare` for many pairs."""
        return list(self.stream(pairs))

    def stream(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relatedness]:
        """`compare` for any number of pairs, in order, a batch at a time."""
        first = 0
        for group in groups(pairs):
            texts = [text for pair in group for text in pair]
            trees = [read[0].tree for read in self.reader.read(texts, first)]
            first += len(texts)
            yield from self._compared(group, list(zip(trees[0::2], trees[1::2], strict=True)))

    def _compared(
        self, pairs: Sequence[tuple[str, str]], trees: Sequence[tuple[Tree, Tree]]
    ) -> list[Relatedness]:
        vectors = sentence_vectors(self.model, [tree for pair in trees for tree in pair])
        log_p = self._ratings(vectors[0::2], vectors[1::2])
        scores, rows = self.head.score(log_p).tolist(), log_p.exp().tolist()
        return [
            Relatedness(a, b, score, tuple(row), both)
            for (a, b), score, row, both in zip(pairs, scores, rows, trees, strict=True)
        ]

    @torch.inference_mode()
    def _ratings(self, left: Tensor, right: Tensor) -> Tensor:
        log_p: Tensor = self.head(left, right)
        return log_p

    # ----------------------------------------------------------------- vectors

    def encode(self, texts: Iterable[str]) -> Floats:
        """(texts, D) the vector of each text."""
        parts = [
            sentence_vectors(
                self.model, [read[0].tree for read in self.reader.read(group, number * AT_ONCE)]
            ).numpy()
            for number, group in enumerate(groups(texts))
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.model.encoder.width), dtype=np.float32)

    def mean_rows(self, texts: Iterable[str]) -> Floats:
        """(texts, columns) the mean of the model's word rows: the plain baseline beside `encode`."""
        parts: list[Floats] = []
        for group in groups(texts):
            for text in self.reader.cut(group):
                words = [token.text for sentence in text for token in sentence] or [UNKNOWN]
                parts.append(word_rows(self.model, words).mean(dim=0).numpy())
        return np.stack(parts) if parts else np.zeros((0, self.model.config.dimension), dtype=np.float32)

    def nearest(
        self, query: str, corpus: Sequence[str], k: int = 3, *, vectors: Floats | None = None
    ) -> list[Neighbour]:
        """The `k` texts of a corpus most related to a query, best first; the query itself is not left out.

        `vectors`, what `encode(corpus)` gave, saves encoding the corpus for every query.
        """
        if k < 1:
            raise ValueError(f"k={k}: at least 1")
        known = self.encode(corpus) if vectors is None else vectors
        if len(known) != len(corpus):
            raise ValueError(f"{len(known)} vectors for {len(corpus)} texts; one each")
        one = torch.from_numpy(self.encode([query]))
        scores = np.empty(len(corpus), dtype=np.float32)
        place = 0
        for part in torch.from_numpy(known).split(4096):
            scores[place : place + len(part)] = self.head.score(
                self._ratings(one.expand(len(part), -1), part)
            ).numpy()
            place += len(part)
        best = np.argsort(-scores, kind="stable")[:k].tolist()
        return [Neighbour(corpus[i], float(scores[i]), i) for i in best]
