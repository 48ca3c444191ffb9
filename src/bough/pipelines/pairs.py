"""Rate or classify pairs of texts, encode texts as vectors, and find the nearest of many."""

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bough.models.batching import PreparedTree, collate, prepare_all
from bough.models.model import Model
from bough.nn.heads import CosineSimilarity
from bough.pipelines.frames import DataFrame, frame_items, pair_frame
from bough.pipelines.pipeline import BasePipeline, inference
from bough.pipelines.prediction import Floats, Neighbour, PairPrediction
from bough.pipelines.readers import AT_ONCE, Read, groups
from bough.text import Parser
from bough.trees.tree import Tree

AT_A_TIME = 4096  # vectors that a head compares with a query at a time


class PairPipeline(BasePipeline[PairPrediction]):
    """Pairs of texts to ratings or classes, and texts to vectors.

    Ratings are on the scale of the training ratings. The scale of the bundled model is 1 (unrelated) to 5 (the same),
    and its ratings are the cosines of the vectors, on that scale: any index of vectors finds the
    most related texts. Classes are those of entailment, duplicates or clones, for example.

    Args:
        model: a model for pairs.
        parser: a name that `bough.text.get_parser` knows, or a parser.
        batch_size: the number of pairs that are parsed and rated together.

    Examples:
        >>> import bough
        >>> related = bough.load("relatedness")
        >>> related("A man plays a guitar", "A man plays music").score > 3
        True
        >>> related.encode(["A man sings", "It rains"]).shape, related.encode("A man sings").shape
        ((2, 300), (300,))
    """

    def __init__(self, model: Model, parser: str | Parser = "builtin", batch_size: int = AT_ONCE) -> None:
        if not model.output.pairs:
            raise ValueError(f"a model of {model.output.describe()}; PairPipeline needs a model of pairs")
        super().__init__(model, parser, batch_size)
        self.head = model.head

    @overload
    def __call__(
        self, a: Any, b: Any, *, trees: tuple[Tree | str, Tree | str] | None = None
    ) -> PairPrediction: ...
    @overload
    def __call__(self, a: Sequence[tuple[Any, Any]]) -> list[PairPrediction]: ...

    def __call__(
        self, a: Any, b: Any = None, *, trees: tuple[Tree | str, Tree | str] | None = None
    ) -> PairPrediction | list[PairPrediction]:
        """Return the prediction for two texts or trees, or for each pair of a list.

        `trees` replace the trees of the parser.
        """
        if b is None and trees is None and a is not None and not isinstance(a, (str, Tree)):
            return list(self.stream(a))
        if trees is not None:
            both = zip((a, b), trees, strict=True)
            (a, left), (b, right) = (self.reader.given(text, tree) for text, tree in both)
            return self._predict([(a, b)], [([left], [right])])[0]
        if a is None or b is None:
            raise ValueError("a text is missing; two texts are compared")
        return next(self.stream([(a, b)]))

    def score(self, a: str, b: str) -> float:
        """Return the expected rating of two texts, how related they are, or the probability of their class."""
        return self(a, b).score

    def frame(self, pairs: Iterable[tuple[str, str]]) -> DataFrame:
        """Return the scores as a pandas `DataFrame`: `a`, `b`, the `label` if there are classes, and `score`.

        A `DataFrame` of two columns gives the pairs, and its index; a pair with a missing text has no score.
        """
        items, index = frame_items(pairs)
        results = list(self.stream(items, allow_empty=True))
        return pair_frame(items, results, self.model.output, index)

    def _predict(self, items: Sequence[Any], reads: Sequence[Sequence[list[Read]]]) -> list[PairPrediction]:
        if not items:
            return []
        trees = [side[0].tree for sides in reads for side in sides]
        vectors = sentence_vectors(self.model, prepare_all(trees, self.model))
        with torch.inference_mode():
            predicted = self.model.output.predict(self.head, vectors[0::2], vectors[1::2])
        results = self.model.output.fields(predicted.astype(np.float64))
        both = zip(trees[0::2], trees[1::2], strict=True)
        columns = zip(items, both, results, predicted, strict=True)
        return [
            PairPrediction(a, b, sides, result, self.model.output, row)
            for (a, b), sides, result, row in columns
        ]

    def encode(self, texts: str | Iterable[str]) -> Floats:
        """Return (texts, D), the vector of each text; for one text its vector (D,).

        The vectors of a model that rates by the cosine have length 1: their products are their cosines.
        """
        if isinstance(texts, str):
            return self.encode([texts]).reshape(-1)
        return self.vectors(self._read_all(texts, skip=False)[1])

    def vectors(self, sentences: Sequence[Read]) -> Floats:
        """Return (sentences, D), the vector of each sentence."""
        trees = ([read.tree for read in group] for group in groups(sentences, self.batch_size))
        parts = [sentence_vectors(self.model, prepare_all(group, self.model)).cpu() for group in trees]
        return torch.cat([torch.zeros(0, self.model.layer.width), *parts]).numpy()

    def _read_all(self, texts: Iterable[str], *, skip: bool) -> tuple[list[int], list[Read]]:
        """Return the indices of the texts with words, and their trees. Without `skip` all need words."""
        indices, found = list[int](), list[Read]()
        first = 0
        for group in groups(texts, self.batch_size):
            reads = self.reader.read(group, first, allow_empty=skip)
            indices += [i for i, read in enumerate(reads, first) if read]
            found += [read[0] for read in reads if read]
            first += len(group)
        return indices, found

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

        `vectors`, the result of `encode(corpus)`, saves encoding the corpus for every query. With
        `skip`, texts without words are skipped; otherwise they are an error.
        """
        if not self.model.output.rates:
            raise ValueError(
                f"this model predicts {self.model.output.describe()}; nearest needs one that predicts ratings"
            )
        if k < 1:
            raise ValueError(f"k={k}: at least 1")
        asked = self.reader.read([query])[0][0]
        indices: Sequence[int] = range(len(corpus))
        if vectors is None:
            indices, reads = self._read_all(corpus, skip=skip)
            vectors = self.vectors(reads)
        if len(vectors) != len(indices):
            raise ValueError(f"{len(vectors)} vectors for {len(corpus)} texts; one each")
        best, scores = self._nearest(torch.from_numpy(self.vectors([asked])), torch.from_numpy(vectors), k)
        places = (indices[i] for i in best)
        return [Neighbour(corpus[i], score, i) for i, score in zip(places, scores, strict=True)]

    @torch.inference_mode()
    def _nearest(self, one: Tensor, known: Tensor, k: int) -> tuple[list[int], list[float]]:
        """Return the indices of the `k` vectors of (n, D) nearest to one (1, D), and their ratings."""
        asked, rest = (part.to(self.model.table.device) for part in (one, known))
        order = None
        if isinstance(self.head, CosineSimilarity):
            order = (rest @ asked[0]).argsort(descending=True, stable=True)[:k]
            rest = rest[order]
        parts = (
            self.model.output.predict(self.head, asked.expand(len(part), -1), part)
            for part in rest.split(AT_A_TIME)
        )
        scores = np.concatenate([predicted[:, 0] for predicted in parts])
        if order is None:
            best = np.argsort(-scores, kind="stable")[:k]
            return best.tolist(), scores[best].tolist()
        return order.tolist(), scores.tolist()


def sentence_vectors(model: Model, sentences: Sequence[PreparedTree]) -> Tensor:
    """Return (sentences, D), their vectors, of length 1 where the model rates by the cosine."""
    if not sentences:
        return torch.zeros(0, model.layer.width)
    with inference(model):
        vectors = model.sentences(*collate(sentences, model))
        return functional.normalize(vectors, dim=1) if isinstance(model.head, CosineSimilarity) else vectors
