"""Rate how related two texts are, encode texts as vectors, and find the nearest of many."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from bough.models import pair_features
from bough.models.batching import Sentence, prepare_all
from bough.models.metrics import Report, correlations
from bough.models.model import Model
from bough.models.stemmer import base
from bough.nn.heads import Similarity
from bough.pipelines.inference import BasePipeline, Floats, mean_rows, sentence_vectors
from bough.pipelines.readers import Read, groups
from bough.pipelines.results import Neighbour, Relatedness, frame_items, pair_frame
from bough.text import Parser
from bough.trees.tree import Tree

if TYPE_CHECKING:
    from pandas import DataFrame

SHORT = 50  # texts on the short list of `nearest`, unless more are asked for
SHARED = 0.5  # how much sharing every word adds to the order of a short list, as a fraction of the scale


class RelatednessPipeline(BasePipeline):
    """Texts to vectors, and pairs of texts to a relatedness from 1 (not at all) to 5 (the same).

    Args:
        model: a model for pairs.
        parser: a name that `bough.text.get_parser` knows, or a parser.

    Examples:
        >>> import bough
        >>> related = bough.load("relatedness")
        >>> related.score("A man plays a guitar", "A man plays music") > 3
        True
        >>> related.encode(["A man sings", "It rains"]).shape
        (2, 150)
    """

    def __init__(self, model: Model, parser: str | Parser = "builtin") -> None:
        if not isinstance(model.head, Similarity):
            raise ValueError(f"a model for task {model.config.task!r}; relatedness needs one for pairs")
        super().__init__(model, parser)
        self.head = model.head

    # ------------------------------------------------------------------- pairs

    def score(self, a: str, b: str) -> float:
        """Rate how related two texts are, on the scale of the training ratings: 1 to 5 for the bundled model."""
        return self.compare(a, b).score

    def compare(
        self, a: str | None, b: str | None, *, trees: tuple[Tree | str, Tree | str] | None = None
    ) -> Relatedness:
        """Return the score with the probability of each rating and both trees; `trees` replace the parser's."""
        if trees is not None:
            (a, left), (b, right) = (
                self.reader.given(text, tree) for text, tree in zip((a, b), trees, strict=True)
            )
            return self._compared([(a, b)], [[left], [right]])[0]
        if a is None or b is None:
            raise ValueError("a text is missing; two texts are compared")
        return self._compared([(a, b)], self.reader.read([a, b]))[0]

    def compare_all(self, pairs: Sequence[tuple[str, str]]) -> list[Relatedness]:
        """Apply `compare` to many pairs."""
        return list(self.stream(pairs))

    def stream(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relatedness]:
        """Apply `compare` to any number of pairs, in order, one batch at a time."""
        first = 0
        for group in groups(pairs):
            texts = [text for pair in group for text in pair]
            yield from self._compared(group, self.reader.read(texts, first))
            first += len(texts)

    def stream_any(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relatedness | None]:
        """Apply `compare` as `stream` does, with None for a pair in which a text has no words."""
        for group in groups(pairs):
            reads = self.reader.read_any([text for pair in group for text in pair])
            spoken = [bool(left and right) for left, right in zip(reads[0::2], reads[1::2], strict=True)]
            known = [pair for pair, both in zip(group, spoken, strict=True) if both]
            of_known = [read for i, read in enumerate(reads) if spoken[i // 2]]
            results = iter(self._compared(known, of_known))
            yield from (next(results) if both else None for both in spoken)

    def frame(self, pairs: Iterable[tuple[str, str]]) -> DataFrame:
        """Return the scores as a pandas `DataFrame`: `a`, `b` and `score`, one row per pair.

        A `DataFrame` of two columns gives the pairs, and its index; a pair with a missing text has no score.
        """
        items, index = frame_items(pairs)
        return pair_frame(items, self.stream_any(items), index)

    def _compared(self, pairs: Sequence[tuple[str, str]], reads: Sequence[list[Read]]) -> list[Relatedness]:
        """Compare the pairs, whose texts `reads` holds one after the other."""
        if not pairs:
            return []
        trees = [read[0].tree for read in reads]
        sentences = prepare_all(trees, self.model)
        scores, rows = self._rate(sentences[0::2], sentences[1::2])
        both = zip(trees[0::2], trees[1::2], strict=True)
        return [
            Relatedness(a, b, score, tuple(row), two)
            for (a, b), score, row, two in zip(pairs, scores.tolist(), rows.tolist(), both, strict=True)
        ]

    @torch.inference_mode()
    def _rate(self, left: Sequence[Sentence], right: Sequence[Sentence]) -> tuple[Tensor, Tensor]:
        """Return (pairs,) the expected ratings and (pairs, K) the probabilities of the ratings."""
        features = None
        if self.model.config.pair_features:
            sides = [(a.side, b.side) for a, b in zip(left, right, strict=True) if a.side and b.side]
            features = torch.from_numpy(pair_features.rows(sides)).to(self.model.table.device)
        both = [sentence for pair in zip(left, right, strict=True) for sentence in pair]
        vectors = sentence_vectors(self.model, both)
        log_p = self.head(vectors[0::2], vectors[1::2], features)
        return self._expected(log_p), log_p.exp()

    def _expected(self, log_p: Tensor) -> Tensor:
        """Return (pairs,) the expected rating, on the scale of the training ratings, from (pairs, K)."""
        scores: Tensor = self.model.purpose.rating(self.head.score(log_p), self.head.classes)
        return scores

    def evaluate(self, pairs: Sequence[tuple[str, str]], ratings: Sequence[float]) -> Report:
        """Return Pearson's r, Spearman's rho and the mean squared error."""
        if len(pairs) != len(ratings):
            raise ValueError(f"{len(pairs):,} pairs, {len(ratings):,} ratings; one each")
        predicted = np.array([result.score for result in self.stream(pairs)])
        return Report(correlations(predicted, np.array(ratings, dtype=np.float64)), [], len(pairs))

    # ----------------------------------------------------------------- vectors

    def encode(self, texts: Iterable[str]) -> Floats:
        """Return (texts, D), the vector of each text."""
        return self.vectors(self._read_all(texts, skip=False)[1])

    def vectors(self, sentences: Sequence[Read]) -> Floats:
        """Return (sentences, D), the vector of each sentence."""
        trees = ([read.tree for read in group] for group in groups(sentences))
        parts = [sentence_vectors(self.model, prepare_all(group, self.model)) for group in trees]
        return torch.cat([torch.zeros(0, self.model.layer.width), *parts]).numpy()

    def mean_rows(self, texts: Iterable[str]) -> Floats:
        """Return (texts, X), the mean of the model's word vectors: the plain baseline beside `encode`."""
        cut = (cut for group in groups(texts) for cut in self.reader.cut(group))
        return mean_rows(self.model, [[token.text for part in text for token in part] for text in cut])

    def _read_all(self, texts: Iterable[str], *, skip: bool) -> tuple[list[int], list[Read]]:
        """Parse texts; return the indices of those with words and their sentences. Without `skip` all need words."""
        indices, found = list[int](), list[Read]()
        first = 0
        for group in groups(texts):
            reads = self.reader.read_any(group) if skip else self.reader.read(group, first)
            indices += [i for i, read in enumerate(reads, first) if read]
            found += [read[0] for read in reads if read]
            first += len(group)
        return indices, found

    # ----------------------------------------------------------------- nearest

    def nearest(
        self,
        query: str,
        corpus: Sequence[str],
        k: int = 3,
        *,
        vectors: Floats | None = None,
        skip: bool = False,
    ) -> list[Neighbour]:
        """Return the `k` texts of a corpus most related to a query, best first; the query itself is not left out.

        `vectors`, the result of `encode(corpus)`, saves encoding the corpus for every query. With `skip`, texts without
        words are skipped; otherwise they are an error.

        A model whose pairs have features, as the bundled one, rates the texts on a short list: the 50 (or `k`) nearest
        by their vectors, and as many that share the rarest words with the query. Shared words count in the order too:
        a text may stand before one of a slightly higher score.
        """
        if k < 1:
            raise ValueError(f"k={k}: at least 1")
        asked = self.reader.read([query])[0][0]
        indices: Sequence[int] = range(len(corpus))
        reads: list[Read] | None = None
        if vectors is None:
            indices, reads = self._read_all(corpus, skip=skip)
            vectors = self.vectors(reads)
        if len(vectors) != len(indices):
            raise ValueError(f"{len(vectors)} vectors for {len(corpus)} texts; one each")
        most = max(SHORT, k)
        near = self._by_vectors(asked, vectors)[:most]
        if not self.model.config.pair_features:
            return [Neighbour(corpus[indices[i]], score, indices[i]) for i, score in near[:k]]
        shared = shared_words(self.model, asked.words, [corpus[i] for i in indices], most)
        listed = sorted({i for i, _ in near + shared})
        if reads is None:
            chosen = [read[0] for read in self.reader.read([corpus[i] for i in listed])]
        else:
            chosen = [reads[i] for i in listed]
        best = self._by_rating(asked, chosen)[:k]
        return [Neighbour(corpus[indices[listed[i]]], score, indices[listed[i]]) for i, score in best]

    @torch.inference_mode()
    def _by_vectors(self, asked: Read, known: Floats) -> list[tuple[int, float]]:
        """Rank vectors (n, D) by the head's rating of each with the query, as if pair features had their means."""
        one = torch.from_numpy(self.vectors([asked]))
        parts = torch.from_numpy(known).split(4096)
        rated = [self._expected(self.head(one.expand(len(part), -1), part, None)) for part in parts]
        scores = torch.cat(rated).numpy()
        order = np.argsort(-scores, kind="stable")
        return list(zip(order.tolist(), scores[order].tolist(), strict=True))

    def _by_rating(self, asked: Read, reads: Sequence[Read]) -> list[tuple[int, float]]:
        """Rank sentences by the whole head's rating with the query plus the rare words that both share."""
        if not reads:
            return []
        first, *others = prepare_all([asked.tree, *(read.tree for read in reads)], self.model)
        scores = self._rate([first] * len(others), others)[0].numpy()
        order = scores.copy()
        low, high = self.model.purpose.ratings
        texts = [" ".join(read.words) for read in reads]
        for i, share in shared_words(self.model, asked.words, texts, len(texts)):
            order[i] += share * SHARED * (high - low)
        best = np.argsort(-order, kind="stable")
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))


def shared_words(
    model: Model, query: Iterable[str], texts: Sequence[str], most: int
) -> list[tuple[int, float]]:
    """Return the indices of the `most` texts that share the rarest words with a query, best first, and how much.

    The measure is the cosine of both texts' stemmed words, each word weighted by its rarity. Texts that share no word
    are left out.
    """
    asked = _weights(model, " ".join(query))
    length = math.sqrt(sum(weight**2 for weight in asked.values())) or 1.0
    found: list[tuple[int, float]] = []
    for index, text in enumerate(texts):
        own = _weights(model, text)
        if shared := sum(weight**2 for word, weight in own.items() if word in asked):
            found.append((index, shared / length / math.sqrt(sum(weight**2 for weight in own.values()))))
    return nlargest(most, found, key=lambda pair: (pair[1], -pair[0]))


def _weights(model: Model, text: str) -> dict[str, float]:
    """Return the rarity of each word of a text, by the word's stem."""
    rarity = model.rarity.numpy()
    rows = {word: model.index.get(word) for word in re.findall(r"\w+", text.lower())}
    return {base(word): 1.0 if row is None else float(rarity[row]) for word, row in rows.items()}
