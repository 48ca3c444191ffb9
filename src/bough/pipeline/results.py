"""What a pipeline gives back: a scored tree over the words of a text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.draw.picture import svg
from bough.pipeline.reading import Read
from bough.trees.tree import Tree

Floats = NDArray[np.float32]
_Columns = tuple[list[int], str, str, float, list[float], list[int], int | None]
DIGITS = 4  # of a probability in JSON


@dataclass(frozen=True)
class Phrase:
    """A phrase: the half-open range of words it covers, its text, its sentiment, and the phrases it is made of.

    `score` is the expected class, from -1 (the most negative) to 1; `children` are places among the nodes.
    """

    span: tuple[int, int]
    text: str
    label: str
    score: float
    probabilities: tuple[float, ...]
    children: tuple[int, ...]
    word: int | None  # the place of the node's own word; None for a phrase of phrases


class Sentiment:
    """The sentiment of a text, of its sentences and of every phrase in them.

    `nodes` are the phrases, sentence by sentence, each tree in preorder; `roots` says where each sentence's
    tree begins. Of a text with several sentences `probabilities` are the mean of theirs, each counting by
    its words. `classes` names the classes in order.
    """

    def __init__(
        self, text: str, classes: Sequence[str], sentences: Sequence[Read], probabilities: Sequence[Floats]
    ) -> None:
        self.text, self.classes = text, tuple(classes)
        self._sentences, self._probabilities = sentences, probabilities
        weights = [len(read.tokens) for read in sentences]
        tops = np.stack([p[read.tree.root] for read, p in zip(sentences, probabilities, strict=True)])
        self._mean: NDArray[np.float64] = np.average(tops.astype(np.float64), axis=0, weights=weights)

    def __repr__(self) -> str:
        return f"Sentiment({self.label!r}, score={self.score:.2f}, text={self.text[:60]!r})"

    # ------------------------------------------------------------------ the text

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Of each class, in the order of `classes`."""
        return tuple(self._mean.tolist())

    @property
    def label(self) -> str:
        """The likeliest class."""
        return self.classes[int(self._mean.argmax())]

    @property
    def score(self) -> float:
        """The expected class, from -1 (the most negative) to 1 (the most positive)."""
        return float(self._mean @ scale(len(self.classes)))

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
            Tree(read.tree.parents, tokens=read.tree.tokens, labels=p.argmax(axis=1).tolist())
            for read, p in zip(self._sentences, self._probabilities, strict=True)
        )

    @property
    def tree(self) -> Tree:
        """The tree of a text that is one sentence."""
        if len(self._sentences) > 1:
            raise ValueError(f"{len(self._sentences)} sentences, each with a tree of its own; see .trees")
        return self.trees[0]

    @cached_property
    def sentences(self) -> tuple[Sentiment, ...]:
        """Each sentence as a result of its own, over its own part of the text."""
        return tuple(
            Sentiment(
                self.text[read.tokens[0].start : read.tokens[-1].end], self.classes, [_moved(read)], [p]
            )
            for read, p in zip(self._sentences, self._probabilities, strict=True)
        )

    @cached_property
    def nodes(self) -> tuple[Phrase, ...]:
        """Every phrase."""
        return tuple(
            Phrase((low, high), text, label, score, tuple(row), tuple(children), word)
            for (low, high), text, label, score, row, children, word in self._columns()
        )

    def _columns(self, digits: int | None = None) -> Iterator[_Columns]:
        """What the nodes hold, as plain values: the one place where trees, words and numbers come together."""
        words = nodes = 0
        steps = scale(len(self.classes))
        for read, p in zip(self._sentences, self._probabilities, strict=True):
            exact = p.astype(np.float64)
            scores, rows = exact @ steps, exact
            if digits is not None:
                scores, rows = scores.round(digits), rows.round(digits)
            order = read.tree.preorder.tolist()
            place = {node: nodes + i for i, node in enumerate(order)}
            own = {node: words + i for i, node in enumerate(read.tree.words.tolist())}
            starts, ends = [t.start for t in read.tokens], [t.end for t in read.tokens]
            for node, (low, high), best, score, row in zip(
                order,
                read.tree.spans[order].tolist(),
                p.argmax(axis=1)[order].tolist(),
                scores[order].tolist(),
                rows[order].tolist(),
                strict=True,
            ):
                yield (
                    [words + low, words + high],
                    self.text[starts[low] : ends[high - 1]],
                    self.classes[best],
                    score,
                    row,
                    [place[child] for child in read.tree.children[node]],
                    own.get(node),
                )
            words += len(read.tokens)
            nodes += len(order)

    @property
    def roots(self) -> tuple[int, ...]:
        """The place of each sentence's root among the nodes."""
        sizes = [len(read.tree) for read in self._sentences]
        return tuple(np.cumsum([0, *sizes[:-1]]).tolist())

    # ------------------------------------------------------------------- shapes

    def as_dict(self, *, phrases: bool = True) -> dict[str, Any]:
        """Plain values for JSON; without `phrases` those of the whole text only."""
        whole: dict[str, Any] = {
            "text": printable(self.text),
            "label": self.label,
            "score": round(self.score, DIGITS),
            "probabilities": rounded(self.probabilities),
        }
        if not phrases:
            return whole
        nodes = [
            {
                "span": span,
                "text": printable(text),
                "label": label,
                "score": score,
                "probabilities": row,
                "children": children,
            }
            for span, text, label, score, row, children, _ in self._columns(DIGITS)
        ]
        return {**whole, "tokens": list(self.tokens), "nodes": nodes, "sentences": list(self.roots)}

    def json(self, *, phrases: bool = True) -> str:
        """The same as one line of JSON."""
        return json.dumps(self.as_dict(phrases=phrases), ensure_ascii=False)

    def svg(self) -> str:
        """The tree, or the trees one below the other, as a picture."""
        return svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()


def scale(classes: int) -> NDArray[np.float64]:
    """The classes on a line from -1 to 1."""
    return np.linspace(-1.0, 1.0, classes)


def rounded(probabilities: Sequence[float]) -> list[float]:
    """To `DIGITS` places."""
    return [round(p, DIGITS) for p in probabilities]


def printable(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which no file can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _moved(read: Read) -> Read:
    start = read.tokens[0].start
    return Read([t._replace(start=t.start - start, end=t.end - start) for t in read.tokens], read.tree)
