"""Results of a pipeline: predictions for texts, trees and pairs, and neighbours, as objects or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.draw import scored_svg, tree_svg
from bough.outputs import Output
from bough.pipelines.readers import Read
from bough.text.tokenise import printable
from bough.trees.tree import Tree

Floats = NDArray[Any]
DIGITS = 4  # of a score or a probability in JSON
_encode = json.JSONEncoder(ensure_ascii=False).encode


def to_json(value: Any) -> str:
    """Return one line of JSON, in characters that a UTF-8 file can hold."""
    try:
        return printable(_encode(value))
    except RecursionError:
        return printable(_encode_deep(value))


def _encode_deep(value: Any) -> str:
    """Encode JSON without recursion, for values nested too deeply for the encoder of the standard library."""
    pieces: list[str] = []
    todo: list[tuple[bool, Any]] = [
        (False, value)
    ]  # values, and texts that are encoded already; the next one last
    while todo:
        encoded, item = todo.pop()
        if encoded or not isinstance(item, (dict, list, tuple)):
            pieces.append(item if encoded else _encode(item))
            continue
        inner: list[tuple[bool, Any]] = []
        for key, one in item.items() if isinstance(item, dict) else ((None, one) for one in item):
            name = "" if key is None else f"{_encode(key)}: "
            inner += [(True, f", {name}" if inner else name), (False, one)]
        opening, closing = "{}" if isinstance(item, dict) else "[]"
        todo += reversed([(True, opening), *inner, (True, closing)])
    return "".join(pieces)


class Outcome:
    """Prediction for a text, a phrase or a pair: a class, several labels at once, numbers, or a rating."""

    output: Output
    outcome: dict[str, Any]

    @property
    def label(self) -> str:
        """The predicted class, or the labels, the numbers or the rating as one string."""
        return self.output.text(self.outcome)

    @property
    def score(self) -> float:
        """The rating; the first number; or, from -1 to 1, how positive a text is or where it is on an ordered scale.

        If the classes have neither polarities nor an order, it is the probability of the label.
        """
        if "score" in self.outcome:
            return float(self.outcome["score"])
        return next(iter(self.numbers.values())) if self.numbers else max(self.probabilities.values())

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each class or label, by its name."""
        return dict(self.outcome.get("probabilities", {}))

    @property
    def labels(self) -> list[str]:
        """The labels whose probability is above their threshold; empty unless the model predicts labels."""
        return list(self.outcome.get("labels", ()))

    @property
    def numbers(self) -> dict[str, float]:
        """The predicted numbers, by name."""
        return dict(self.outcome.get("numbers", {}))

    @property
    def value(self) -> float:
        """The predicted number, of a model that predicts one."""
        if len(self.numbers) != 1:
            raise ValueError(f"{len(self.numbers)} numbers are predicted; see .numbers")
        return self.score


@dataclass(frozen=True)
class Phrase(Outcome):
    """A phrase: the half-open range of words it covers, its text, and what is predicted for it.

    `children` are indices into the nodes; `word` is the index of the node's own word, None for a phrase of phrases.

    Examples:
        >>> import bough
        >>> root = bough.load("sentiment")("A delight.").nodes[0]
        >>> root.span, root.text, root.label, root.children
        ((0, 3), 'A delight.', 'very positive', (1, 2))
    """

    span: tuple[int, int]
    text: str
    children: tuple[int, ...]
    word: int | None
    outcome: dict[str, Any]
    output: Output


class Prediction(Outcome):
    """Predictions of a model for a text, for its sentences and for every phrase in them.

    `nodes` are the phrases, sentence by sentence, each tree in preorder; `roots` says where each
    sentence's tree begins. For a text of several sentences `probabilities` and `numbers` are those
    of the root of the tree that joins the sentences, if the model was trained on such trees;
    otherwise the mean of the sentences, weighted by their number of words.

    Args:
        text: the text, or the words of a tree joined by spaces.
        output: what the model predicts.
        sentences: each sentence as it was read.
        rows: (nodes, T) for each sentence, the probabilities or numbers of the nodes of its tree.
        whole: (T,) those of the text; None for the mean of the sentences.

    Examples:
        >>> import bough
        >>> result = bough.load("sentiment")("A wonderful film. It is dull.")
        >>> [sentence.score > 0 for sentence in result.sentences]
        [True, False]
    """

    def __init__(
        self,
        text: str,
        output: Output,
        sentences: Sequence[Read],
        rows: Sequence[Floats],
        whole: Floats | None = None,
    ) -> None:
        self.text, self.output = text, output
        # each sentence as it was read, and (nodes, T) the probabilities or numbers of the nodes of its tree
        self.parts = list(zip(sentences, rows, strict=True))
        if whole is None:
            roots = np.stack([p[read.tree.root] for read, p in self.parts])
            whole = np.average(roots, axis=0, weights=[len(read.tokens) for read in sentences])
        self.whole = np.asarray(whole, dtype=np.float64)
        self.outcome = output.fields(self.whole[None])[0]

    def __repr__(self) -> str:
        score = f" score={self.score:.2f}," if "score" in self.outcome else ""
        return f"Prediction({self.label!r},{score} text={self.text[:60]!r})"

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, or of the labels."""
        return self.output.classes

    @property
    def ordered(self) -> bool:
        """Whether the classes form a scale."""
        return self.output.ordered

    @property
    def polarity(self) -> str | None:
        """Negative, neutral or positive, whichever classes have the largest sum; None for classes of another kind."""
        polarity: str | None = self.outcome.get("polarity")
        return polarity

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words, in the treebank's form."""
        return tuple(token.text for read, _ in self.parts for token in read.tokens)

    @cached_property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """The first character of each word in the text, and the one after its last."""
        return tuple((token.start, token.end) for read, _ in self.parts for token in read.tokens)

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The tree of each sentence; where classes are predicted, its labels are class numbers."""
        if not self.output.exclusive:
            return tuple(read.tree for read, _ in self.parts)
        decided = ((read.tree, self.output.decide(p)) for read, p in self.parts)
        labelled = ((tree, list(map(self.classes.index, labels))) for tree, labels in decided)
        return tuple(tree.replace(labels=labels, relations=None) for tree, labels in labelled)

    @property
    def tree(self) -> Tree:
        """The tree of a text that is one sentence."""
        if len(self.parts) > 1:
            raise ValueError(f"{len(self.parts)} sentences, each with its own tree; see .trees")
        return self.trees[0]

    @cached_property
    def sentences(self) -> tuple[Prediction, ...]:
        """The prediction for each sentence, over its own part of the text."""
        results = []
        for read, p in self.parts:
            start, end = read.tokens[0].start, read.tokens[-1].end
            tokens = [t._replace(start=t.start - start, end=t.end - start) for t in read.tokens]
            results.append(Prediction(self.text[start:end], self.output, [Read(tokens, read.tree)], [p]))
        return tuple(results)

    @cached_property
    def nodes(self) -> tuple[Phrase, ...]:
        """Every phrase."""
        return tuple(
            Phrase(span, self.text[start:end], tuple(children), word, outcome, self.output)
            for span, (start, end), outcome, children, word in self._walk(None)
        )

    def _walk(self, digits: int | None) -> Iterator[tuple[Any, ...]]:
        """Yield span, characters, outcome, children and word of each node; `digits` of probabilities."""
        words = nodes = 0
        for read, p in self.parts:
            order, below = read.tree.preorder, read.tree.children
            starts, ends = [t.start for t in read.tokens], [t.end for t in read.tokens]
            index = {node: place for place, node in enumerate(order.tolist(), nodes)}
            word_of = {node: word for word, node in enumerate(read.tree.words.tolist(), words)}
            outcomes = self.output.fields(p[order].astype(float), digits)
            spans = read.tree.spans[order].tolist()
            for node, (low, high), outcome in zip(index, spans, outcomes, strict=True):
                span, characters = (low + words, high + words), (starts[low], ends[high - 1])
                children = [index[child] for child in below[node]]
                yield span, characters, outcome, children, word_of.get(node)
            words, nodes = words + len(read.tokens), nodes + len(index)

    @property
    def roots(self) -> tuple[int, ...]:
        """The index of each sentence's root among the nodes."""
        sizes = [len(read.tree) for read, _ in self.parts]
        return tuple(np.cumsum([0, *sizes[:-1]]).tolist())

    def as_dict(self, *, phrases: bool = True) -> dict[str, Any]:
        """Return plain values for JSON; without `phrases`, only those of the whole text."""
        whole = {"text": self.text, **self.output.fields(self.whole[None], DIGITS)[0]}
        if phrases:
            nodes = []
            for span, (start, end), outcome, children, _ in self._walk(DIGITS):
                outcome.pop("polarity", None)
                nodes.append({"span": span, "text": self.text[start:end], **outcome, "children": children})
            whole |= {"tokens": list(self.tokens), "nodes": nodes, "sentences": list(self.roots)}
        return whole

    def json(self, *, phrases: bool = True) -> str:
        """Return `as_dict` as one line of JSON."""
        return to_json(self.as_dict(phrases=phrases))

    def svg(self) -> str:
        """Draw the tree, or the trees one below the other."""
        return scored_svg.svg(self)

    _repr_svg_ = svg


@dataclass(frozen=True)
class Neighbour:
    """A text of a corpus, its index there, and how related it is to the query, on the model's scale.

    Examples:
        >>> import bough
        >>> best, *_ = bough.load("relatedness").nearest("It rains", ["A dog runs", "The rain is falling"])
        >>> best.text, best.index
        ('The rain is falling', 1)
    """

    text: str
    score: float
    index: int


@dataclass(frozen=True)
class PairPrediction(Outcome):
    """Prediction for a pair of texts, such as a rating or a class.

    A rating is in `score`, on the model's scale, 1 to 5 for the bundled model; `probabilities` has
    one for each step of the scale, and `score` is the expected rating. They are empty if the model
    rates by the cosine, as the bundled one does. A class is in `label`, its probability in `score`,
    and the probability of each class in `probabilities`.

    Examples:
        >>> import bough
        >>> result = bough.load("relatedness")("A man plays a guitar", "A man plays music")
        >>> result.score > 3, result.probabilities
        (True, {})
    """

    a: str
    b: str
    trees: tuple[Tree, Tree]
    outcome: dict[str, Any]
    output: Output
    whole: Floats  # the row of predictions

    def __repr__(self) -> str:
        label = f"{self.label!r}, " if "label" in self.outcome else ""
        return f"PairPrediction({label}score={self.score:.2f}, a={self.a[:40]!r}, b={self.b[:40]!r})"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"a": self.a, "b": self.b, **rounded(self.outcome)}

    def json(self) -> str:
        """Return `as_dict` as one line of JSON."""
        return to_json(self.as_dict())

    def _repr_svg_(self) -> str | None:
        caption = f"{self.outcome.get('label', 'relatedness')} {self.score:.2f}"
        return tree_svg.svg(self.trees, f"{self.a} / {self.b}", caption=caption)


def rounded(outcome: dict[str, Any]) -> dict[str, Any]:
    """Return an outcome whose score and probabilities are rounded for JSON."""
    result = dict(outcome)
    if "score" in result:
        result["score"] = round(result["score"], DIGITS)
    if "probabilities" in result:
        result["probabilities"] = {name: round(p, DIGITS) for name, p in result["probabilities"].items()}
    return result
