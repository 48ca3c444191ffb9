"""What a pipeline gives back: a scored tree over the words of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from json.encoder import encode_basestring
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.draw.scored_svg import svg
from bough.formats.escapes import printable
from bough.pipelines.json_text import DIGITS, encoded, numbers, quoted, rounded
from bough.pipelines.reading import Read
from bough.trees.tree import Tree

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
POLARITIES = ("negative", "neutral", "positive")
NODE = ("span", "text", "label", "score", "probabilities", "children")


@dataclass(frozen=True)
class Phrase:
    """A phrase: the half-open range of words it covers, its text, its sentiment, and the phrases it is made of.

    `score` is the expected class, from -1 (the most negative) to 1, or, for classes without an order, the
    probability of the label; `children` are places among the nodes; `word` is the place of the node's own word, None
    for a phrase of phrases.

    Examples:
        >>> import bough
        >>> root = bough.load("sentiment")("A delight.").nodes[0]
        >>> root.span, root.text, root.label, root.children
        ((0, 3), 'A delight.', 'very positive', (1, 2))
    """

    span: tuple[int, int]
    text: str
    label: str
    score: float
    probabilities: tuple[float, ...]
    children: tuple[int, ...]
    word: int | None  # the place of the node's own word; None for a phrase of phrases


class _Columns(NamedTuple):
    """The nodes of a text: a list or an array for each thing they have."""

    spans: list[list[int]]
    texts: list[str]
    labels: list[str]
    scores: Doubles  # (nodes,)
    rows: Doubles  # (nodes, classes) probabilities
    children: list[list[int]]


class Sentiment:
    """The sentiment of a text, of its sentences and of every phrase in them.

    `nodes` are the phrases, sentence by sentence, each tree in preorder; `roots` says where each sentence's
    tree begins. For a text of several sentences `probabilities` are the mean of theirs, weighted by their number of
    words. `classes` names the classes; `ordered` says whether they form a scale.

    Examples:
        >>> import bough
        >>> result = bough.load("sentiment")("A wonderful film. It is dull.")
        >>> [sentence.score > 0 for sentence in result.sentences]
        [True, False]
    """

    def __init__(
        self,
        text: str,
        classes: Sequence[str],
        sentences: Sequence[Read],
        probabilities: Sequence[Floats],
        *,
        ordered: bool = True,
    ) -> None:
        self.text, self.classes, self.ordered = text, tuple(classes), ordered
        self._sentences, self._probabilities = sentences, probabilities
        sums = np.zeros(len(self.classes))
        for read, p in zip(sentences, probabilities, strict=True):
            sums += p[read.tree.root].astype(np.float64) * len(read.tokens)
        self._mean: Doubles = sums / sum(len(read.tokens) for read in sentences)

    def __repr__(self) -> str:
        return f"Sentiment({self.label!r}, score={self.score:.2f}, text={self.text[:60]!r})"

    # ------------------------------------------------------------------ the text

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The probability of each class, in the order of `classes`."""
        return tuple(self._mean.tolist())

    @property
    def label(self) -> str:
        """The likeliest class."""
        return self.classes[int(self._mean.argmax())]

    @property
    def polarity(self) -> str | None:
        """Negative, neutral or positive, with the p of all classes that are; None where classes are other things."""
        signs = polarities(self.classes)
        if signs is None:
            return None
        sums = {sign: float(self._mean[list(places)].sum()) for sign, places in signs.items()}
        return max(sums, key=sums.__getitem__)

    @property
    def score(self) -> float:
        """The expected class, from -1 to 1; for classes without an order, the probability of the label."""
        return float(self._scores(self._mean))

    def _scores(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """(..., classes) -> (...)."""
        return p @ scale(len(self.classes)) if self.ordered else p.max(axis=-1)

    @property
    def parts(self) -> list[tuple[Read, Floats]]:
        """Each sentence as it was read, and (nodes, classes) the probabilities of the nodes of its tree."""
        return list(zip(self._sentences, self._probabilities, strict=True))

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words, in the treebank's form."""
        return tuple(token.text for read in self._sentences for token in read.tokens)

    @cached_property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Where each word stands in the text, as characters."""
        return tuple((token.start, token.end) for read in self._sentences for token in read.tokens)

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The tree of each sentence; its labels are class numbers."""
        return tuple(
            read.tree.replace(labels=p.argmax(axis=1).tolist(), relations=None)
            for read, p in zip(self._sentences, self._probabilities, strict=True)
        )

    @property
    def tree(self) -> Tree:
        """The tree of a text that is one sentence."""
        if len(self._sentences) > 1:
            raise ValueError(f"{len(self._sentences)} sentences, each with its own tree; see .trees")
        return self.trees[0]

    @cached_property
    def sentences(self) -> tuple[Sentiment, ...]:
        """Each sentence as a result of its own, over its own part of the text."""
        return tuple(
            Sentiment(
                self.text[read.tokens[0].start : read.tokens[-1].end],
                self.classes,
                [_moved(read)],
                [p],
                ordered=self.ordered,
            )
            for read, p in zip(self._sentences, self._probabilities, strict=True)
        )

    @cached_property
    def nodes(self) -> tuple[Phrase, ...]:
        """Every phrase."""
        spans, texts, labels, scores, rows, children = self._columns()
        measured = scores.tolist(), map(tuple, rows.tolist())
        columns = map(tuple, spans), texts, labels, *measured, map(tuple, children), self._own_words()
        return tuple(Phrase(*values) for values in zip(*columns, strict=True))

    def _own_words(self) -> Iterator[int | None]:
        first = 0
        for read in self._sentences:
            own = {node: place for place, node in enumerate(read.tree.words.tolist(), first)}
            yield from map(own.get, read.tree.preorder.tolist())
            first += len(read.tokens)

    def _columns(self) -> _Columns:
        """What the nodes hold: the one place where trees, words and numbers come together."""
        spans: list[list[int]] = []
        texts: list[str] = []
        best: list[int] = []
        children: list[list[int]] = []
        scores, rows = [], []
        words = 0
        for read, p in zip(self._sentences, self._probabilities, strict=True):
            order, below, exact = read.tree.preorder, read.tree.children, p.astype(np.float64)
            covered = read.tree.spans[order]
            starts, ends = [t.start for t in read.tokens], [t.end for t in read.tokens]
            texts += [self.text[starts[low] : ends[high - 1]] for low, high in covered.tolist()]
            spans += (covered + words).tolist()
            places = {node: place for place, node in enumerate(order.tolist(), len(children))}
            children += [[places[child] for child in below[node]] for node in places]
            best += p.argmax(axis=1)[order].tolist()
            scores.append(self._scores(exact)[order])
            rows.append(exact[order])
            words += len(read.tokens)
        labels = [self.classes[place] for place in best]
        return _Columns(spans, texts, labels, np.concatenate(scores), np.concatenate(rows), children)

    @property
    def roots(self) -> tuple[int, ...]:
        """The place of each sentence's root among the nodes."""
        sizes = [len(read.tree) for read in self._sentences]
        return tuple(np.cumsum([0, *sizes[:-1]]).tolist())

    # ------------------------------------------------------------------- shapes

    def as_dict(self, *, phrases: bool = True) -> dict[str, Any]:
        """Plain values for JSON; without `phrases`, those of the whole text only."""
        whole: dict[str, Any] = {
            "text": printable(self.text),
            "label": self.label,
            "polarity": self.polarity,
            "score": round(self.score, DIGITS),
            "probabilities": rounded(self.probabilities),
        }
        if not phrases:
            return whole
        spans, texts, labels, scores, rows, children = self._columns()
        columns = (
            spans,
            map(printable, texts),
            labels,
            scores.round(DIGITS).tolist(),
            rows.round(DIGITS).tolist(),
        )
        nodes = [dict(zip(NODE, values, strict=True)) for values in zip(*columns, children, strict=True)]
        return {**whole, "tokens": list(self.tokens), "nodes": nodes, "sentences": list(self.roots)}

    def json(self, *, phrases: bool = True) -> str:
        """The same as one line of JSON."""
        whole = encoded(self.as_dict(phrases=False))
        return f"{whole[:-1]}, {self.phrases_json()}}}" if phrases else whole

    def phrases_json(self) -> str:
        """What `json` says beyond the whole text; written directly, because one dictionary per phrase is slow."""
        spans, texts, labels, scores, rows, children = self._columns()
        names = dict(zip(self.classes, quoted(self.classes), strict=True))
        nodes = ", ".join(
            f'{{"span": [{low}, {high}], "text": {text}, "label": {names[label]}, "score": {score}, '
            f'"probabilities": [{", ".join(row)}], "children": {below}}}'
            for (low, high), text, label, score, row, below in zip(
                spans, quoted(texts), labels, numbers(scores), numbers(rows), children, strict=True
            )
        )
        tokens = ", ".join(map(encode_basestring, self.tokens))
        return f'"tokens": [{tokens}], "nodes": [{nodes}], "sentences": {list(self.roots)}'

    def svg(self) -> str:
        """The tree, or the trees one below the other, as a picture."""
        return svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()


@cache
def scale(classes: int) -> NDArray[np.float64]:
    """The classes on a line from -1 to 1."""
    line = np.linspace(-1.0, 1.0, classes)
    line.setflags(write=False)  # it is kept
    return line


@cache
def polarities(classes: tuple[str, ...]) -> dict[str, tuple[int, ...]] | None:
    """The places of the classes of each sign, the strong and the plain ones together; None if some have none.

    >>> polarities(("bad", "good")), polarities(("negative", "positive"))
    (None, {'negative': (0,), 'positive': (1,)})
    """
    signs = [name.lower().split()[-1:] for name in classes]
    if not all(sign and sign[0] in POLARITIES for sign in signs):
        return None
    found = {sign: tuple(k for k, own in enumerate(signs) if own == [sign]) for sign in POLARITIES}
    return {sign: places for sign, places in found.items() if places}


def _moved(read: Read) -> Read:
    start = read.tokens[0].start
    return Read([t._replace(start=t.start - start, end=t.end - start) for t in read.tokens], read.tree)
