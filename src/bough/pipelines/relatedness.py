"""How related two texts are, what vectors they have, and which of many is nearest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from bough.models.batching import prepare_all
from bough.models.metrics import Report, correlations
from bough.models.model import Model
from bough.nn.heads import Similarity
from bough.pipelines import frames
from bough.pipelines.inference import Floats, beside, mean_rows, prepared_vectors, sentence_vectors
from bough.pipelines.kept import Kept
from bough.pipelines.pairs import Neighbour, Relatedness
from bough.pipelines.readers import reader_for
from bough.pipelines.reading import Read, groups
from bough.pipelines.retrieval import SHARED, SHORT, shared_words
from bough.text import Parser
from bough.trees.tree import Tree

if TYPE_CHECKING:
    from pandas import DataFrame

_Pair = tuple[list[Read], list[Read]]


class RelatednessPipeline(Kept):
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
        super().__init__(model)
        self.head = model.head
        self.reader = reader_for(model, parser)

    # ------------------------------------------------------------------- pairs

    def score(self, a: str, b: str) -> float:
        """How related two texts are, on the scale of the ratings the model learned from: 1 to 5 for the shipped one."""
        return self.compare(a, b).score

    def compare(
        self, a: str | None, b: str | None, *, trees: tuple[Tree | str, Tree | str] | None = None
    ) -> Relatedness:
        """The same with the probability of each rating and both trees; `trees` are your own."""
        if trees is not None:
            (a, left), (b, right) = (
                self.reader.given(text, tree) for text, tree in zip((a, b), trees, strict=True)
            )
            reads = [([left], [right])]
        elif a is None or b is None:
            raise ValueError("a text is missing; two texts are compared")
        else:
            reads = _paired(self.reader.read([a, b]))
        return self._compared([(a, b)], reads)[0]

    def compare_all(self, pairs: Sequence[tuple[str, str]]) -> list[Relatedness]:
        """`compare` for many pairs."""
        return list(self.stream(pairs))

    def stream(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relatedness]:
        """`compare` for any number of pairs, in order, one batch at a time."""
        first = 0
        for group in groups(pairs):
            texts = [text for pair in group for text in pair]
            yield from self._compared(group, _paired(self.reader.read(texts, first)))
            first += len(texts)

    def stream_any(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relatedness | None]:
        """Like `stream`, with None for a pair in which a text has no words."""
        for group in groups(pairs):
            reads = _paired(self.reader.read_any([text for pair in group for text in pair]))
            spoken = [pair for pair, both in zip(group, reads, strict=True) if all(both)]
            results = iter(self._compared(spoken, [both for both in reads if all(both)]))
            yield from (next(results) if all(both) else None for both in reads)

    def frame(self, pairs: Iterable[tuple[str, str]]) -> DataFrame:
        """The scores as a pandas `DataFrame`: `a`, `b` and `score`, one row per pair.

        A `DataFrame` of two columns gives the pairs, and its index; a pair with a missing text has no score.
        """
        items, index = frames.listed(pairs)
        results = self.stream_any(items)
        return frames.of_pairs(items, [frames.NAN if one is None else one.score for one in results], index)

    def _compared(self, pairs: Sequence[tuple[str, str]], reads: Sequence[_Pair]) -> list[Relatedness]:
        if not pairs:
            return []
        trees = [(left[0].tree, right[0].tree) for left, right in reads]
        sentences = prepare_all([tree for pair in trees for tree in pair], self.model)
        f = beside(self.model, sentences[0::2], sentences[1::2])
        vectors = prepared_vectors(self.model, sentences)
        log_p = self._ratings(vectors[0::2], vectors[1::2], f)
        scores, rows = self._scores(log_p).tolist(), log_p.exp().tolist()
        return [
            Relatedness(a, b, score, tuple(row), both)
            for (a, b), score, row, both in zip(pairs, scores, rows, trees, strict=True)
        ]

    @torch.inference_mode()
    def _ratings(self, left: Tensor, right: Tensor, f: Tensor | None = None) -> Tensor:
        log_p: Tensor = self.head(left, right, f)
        return log_p

    def _scores(self, log_p: Tensor) -> Tensor:
        """(pairs, K) -> (pairs,) the expected rating, on the scale of what the model learned from."""
        scores: Tensor = self.model.purpose.rating(self.head.score(log_p), self.head.classes)
        return scores

    def evaluate(self, pairs: Sequence[tuple[str, str]], ratings: Sequence[float]) -> Report:
        """Pearson's r, Spearman's rho and the mean squared error."""
        if len(pairs) != len(ratings):
            raise ValueError(f"{len(pairs):,} pairs, {len(ratings):,} ratings; one each")
        predicted = np.array([result.score for result in self.stream(pairs)])
        return Report(correlations(predicted, np.array(ratings, dtype=np.float64)), [], len(pairs))

    # ----------------------------------------------------------------- vectors

    def encode(self, texts: Iterable[str]) -> Floats:
        """(texts, D) the vector of each text."""
        first, parts = 0, [self.vectors([])]
        for group in groups(texts):
            parts.append(self.vectors([read[0] for read in self.reader.read(group, first)]))
            first += len(group)
        return np.concatenate(parts)

    def encode_any(self, texts: Iterable[str]) -> tuple[list[int], Floats]:
        """The places of the texts that have words, and their vectors as from `encode`."""
        first, places, parts = 0, list[int](), [self.vectors([])]
        for group in groups(texts):
            reads = self.reader.read_any(group)
            places += [place for place, read in enumerate(reads, first) if read]
            parts.append(self.vectors([read[0] for read in reads if read]))
            first += len(group)
        return places, np.concatenate(parts)

    def vectors(self, sentences: Sequence[Read]) -> Floats:
        """(sentences, D) the vector of each sentence."""
        parts = [sentence_vectors(self.model, [read.tree for read in group]) for group in groups(sentences)]
        return torch.cat([torch.zeros(0, self.model.layer.width), *parts]).numpy()

    def mean_rows(self, texts: Iterable[str]) -> Floats:
        """(texts, columns) the mean of the model's word rows: the plain baseline beside `encode`."""
        cut = (cut for group in groups(texts) for cut in self.reader.cut(group))
        return mean_rows(self.model, [[token.text for part in text for token in part] for text in cut])

    def nearest(
        self,
        query: str,
        corpus: Sequence[str],
        k: int = 3,
        *,
        vectors: Floats | None = None,
        skip: bool = False,
    ) -> list[Neighbour]:
        """The `k` texts of a corpus most related to a query, best first; the query itself is not left out.

        `vectors`, the result of `encode(corpus)`, saves encoding the corpus for every query. With `skip`, texts without
        words are skipped; otherwise they are an error.

        A model whose pairs have features, as the shipped one, rates the texts on a short list: the 50 (or `k`) nearest
        by their vectors, and as many that share the rarest words with the query. Shared words count in the order too:
        a text may stand before one of a slightly higher score.
        """
        if k < 1:
            raise ValueError(f"k={k}: at least 1")
        asked = self.reader.read([query])[0][0]
        places: list[int] = list(range(len(corpus)))
        reads: list[Read] | None = None
        if vectors is None:
            places, reads = self._all_read(corpus, skip=skip)
            vectors = self.vectors(reads)
        if len(vectors) != len(places):
            raise ValueError(f"{len(vectors)} vectors for {len(corpus)} texts; one each")
        if not self.model.config.pair_features:
            found = self.ranked(self.vectors([asked]), vectors, k)
        else:
            listed = self.short_list(asked, [corpus[place] for place in places], vectors, k)
            chosen = self._read_again(corpus, listed) if reads is None else [reads[i] for i in listed]
            found = [(listed[i], score) for i, score in self.rated(asked, chosen, k)]
        return [Neighbour(corpus[places[i]], score, places[i]) for i, score in found]

    def _all_read(self, corpus: Sequence[str], *, skip: bool) -> tuple[list[int], list[Read]]:
        """The places of the texts that have words, and these texts read."""
        places: list[int] = []
        found: list[Read] = []
        first = 0
        for group in groups(corpus):
            reads = self.reader.read_any(group) if skip else self.reader.read(group, first)
            places += [place for place, read in enumerate(reads, first) if read]
            found += [read[0] for read in reads if read]
            first += len(group)
        return places, found

    def _read_again(self, corpus: Sequence[str], places: Sequence[int]) -> list[Read]:
        return [read[0] for read in self.reader.read([corpus[place] for place in places])]

    def short_list(self, asked: Read, texts: Sequence[str], known: Floats, k: int) -> list[int]:
        """Which of some texts, whose vectors are `known` (n, D), are worth rating."""
        most = max(SHORT, k)
        near = [place for place, _ in self.ranked(self.vectors([asked]), known, most)]
        return sorted({*near, *(place for place, _ in shared_words(self.model, asked.words, texts, most))})

    def rated(self, asked: Read, reads: Sequence[Read], k: int) -> list[tuple[int, float]]:
        """Which `k` of some sentences are nearest to one, best first, with their scores by the whole head.

        The order is by score and shared words together: between scores that are near, the rarest words decide.
        """
        if not reads:
            return []
        first, *others = prepare_all([asked.tree, *(read.tree for read in reads)], self.model)
        f = beside(self.model, [first] * len(others), others)
        vectors = prepared_vectors(self.model, [first, *others])
        log_p = self._ratings(vectors[:1].expand(len(others), -1), vectors[1:], f)
        scores = self._scores(log_p).numpy()
        order = scores.copy()
        if self.model.config.pair_features:
            low, high = self.model.purpose.ratings
            texts = [" ".join(read.words) for read in reads]
            for place, share in shared_words(self.model, asked.words, texts, len(texts)):
                order[place] += share * SHARED * (high - low)
        best = np.argsort(-order, kind="stable")[:k].tolist()
        return [(place, float(scores[place])) for place in best]

    def ranked(self, query: Floats, known: Floats, k: int) -> list[tuple[int, float]]:
        """Which `k` of the vectors `known` (n, D) are nearest to `query` (1, D), best first, with their scores.

        By the vectors alone: the features of a pair, if the model has any, are taken as usual.
        """
        one = torch.from_numpy(query)
        parts = torch.from_numpy(known).split(4096)
        rated = [self._scores(self._ratings(one.expand(len(part), -1), part)).numpy() for part in parts]
        scores = np.concatenate(rated)
        best = np.argsort(-scores, kind="stable")[:k].tolist()
        return [(i, float(scores[i])) for i in best]


def _paired(reads: list[list[Read]]) -> list[_Pair]:
    return list(zip(reads[0::2], reads[1::2], strict=True))
