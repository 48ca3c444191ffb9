"""What a pipeline returns: scored trees, ratings of pairs, neighbours; as objects, JSON or pandas frames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.draw import scored_svg, tree_svg
from bough.formats.escapes import printable
from bough.pipelines.readers import Read, groups
from bough.trees.tree import Tree

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
_Columns = tuple[list[list[int]], list[str], list[str], Doubles, Doubles, list[list[int]]]
POLARITIES = ("negative", "neutral", "positive")
NODE = ("span", "text", "label", "score", "probabilities", "children")
DIGITS = 4  # of a score or a probability in JSON
NAN = float("nan")
to_json = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True)
class Phrase:
    """A phrase: the half-open range of words it covers, its text, its sentiment, and the phrases it is made of.

    `score` is the expected class, from -1 (the most negative) to 1, or, for classes without an order, the
    probability of the label; `children` are indices into the nodes; `word` is the index of the node's own word, None
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
    word: int | None


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
        """The result of each sentence, over its own part of the text."""
        results = []
        for read, p in self.parts:
            start, end = read.tokens[0].start, read.tokens[-1].end
            tokens = [t._replace(start=t.start - start, end=t.end - start) for t in read.tokens]
            alone = Read(tokens, read.tree)
            results.append(Sentiment(self.text[start:end], self.classes, [alone], [p], ordered=self.ordered))
        return tuple(results)

    @cached_property
    def nodes(self) -> tuple[Phrase, ...]:
        """Every phrase."""
        spans, texts, labels, scores, rows, children = self._columns()
        words: list[int | None] = []
        first = 0
        for read in self._sentences:
            own = {node: word for word, node in enumerate(read.tree.words.tolist(), first)}
            words += map(own.get, read.tree.preorder.tolist())
            first += len(read.tokens)
        measured = scores.tolist(), map(tuple, rows.tolist())
        columns = map(tuple, spans), texts, labels, *measured, map(tuple, children), words
        return tuple(Phrase(*values) for values in zip(*columns, strict=True))

    def _columns(self) -> _Columns:
        """Return the spans, texts, labels, scores (n,), probabilities (n, classes) and children of the n nodes."""
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
        return spans, texts, labels, np.concatenate(scores), np.concatenate(rows), children

    @property
    def roots(self) -> tuple[int, ...]:
        """The index of each sentence's root among the nodes."""
        sizes = [len(read.tree) for read in self._sentences]
        return tuple(np.cumsum([0, *sizes[:-1]]).tolist())

    def as_dict(self, *, phrases: bool = True) -> dict[str, Any]:
        """Return plain values for JSON; without `phrases`, only those of the whole text."""
        whole: dict[str, Any] = {
            "text": printable(self.text),
            "label": self.label,
            "polarity": self.polarity,
            "score": round(self.score, DIGITS),
            "probabilities": [round(p, DIGITS) for p in self.probabilities],
        }
        if not phrases:
            return whole
        spans, texts, labels, scores, rows, children = self._columns()
        numbers = scores.round(DIGITS).tolist(), rows.round(DIGITS).tolist()
        columns = zip(spans, map(printable, texts), labels, *numbers, children, strict=True)
        nodes = [dict(zip(NODE, values, strict=True)) for values in columns]
        tokens = [printable(token) for token in self.tokens]
        return {**whole, "tokens": tokens, "nodes": nodes, "sentences": list(self.roots)}

    def json(self, *, phrases: bool = True) -> str:
        """Return `as_dict` as one line of JSON."""
        return to_json(self.as_dict(phrases=phrases))

    def svg(self) -> str:
        """Draw the tree, or the trees one below the other."""
        return scored_svg.svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()


@cache
def scale(classes: int) -> NDArray[np.float64]:
    """Return the values of the classes: evenly spaced from -1 to 1."""
    line = np.linspace(-1.0, 1.0, classes)
    line.setflags(write=False)  # the cache hands out this array
    return line


@cache
def polarities(classes: tuple[str, ...]) -> dict[str, tuple[int, ...]] | None:
    """Return the indices of the classes of each polarity; None if a class has no polarity.

    >>> polarities(("bad", "good")), polarities(("negative", "positive"))
    (None, {'negative': (0,), 'positive': (1,)})
    """
    signs = [name.lower().split()[-1:] for name in classes]
    if not all(sign and sign[0] in POLARITIES for sign in signs):
        return None
    found = {sign: tuple(k for k, own in enumerate(signs) if own == [sign]) for sign in POLARITIES}
    return {sign: places for sign, places in found.items() if places}


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
class Relatedness:
    """How related two texts are: `score` is the expected rating under `probabilities`.

    The ratings are evenly spaced on the model's scale, 1 to 5 for the bundled one.

    Examples:
        >>> import bough
        >>> result = bough.load("relatedness").compare("A man plays a guitar", "A man plays music")
        >>> result.score > 3, len(result.probabilities)
        (True, 5)
    """

    a: str
    b: str
    score: float
    probabilities: tuple[float, ...]
    trees: tuple[Tree, Tree]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "a": printable(self.a),
            "b": printable(self.b),
            "score": round(self.score, DIGITS),
            "probabilities": [round(p, DIGITS) for p in self.probabilities],
        }

    def json(self) -> str:
        """Return `as_dict` as one line of JSON."""
        return to_json(self.as_dict())

    def _repr_svg_(self) -> str | None:
        return tree_svg.svg(self.trees, f"{self.a} / {self.b}", caption=f"relatedness {self.score:.2f}")


# ------------------------------------------------------------------------ pandas frames


def frame_items(items: Iterable[Any]) -> tuple[list[Any], Any]:
    """Return the items, with an empty text for each missing one, and the index of a pandas object, else None."""
    isna = _pandas().isna
    index = getattr(items, "index", None)
    if callable(index):  # the method of a list
        index = None
    rows = items if index is None else items.values  # type: ignore[attr-defined]

    def text(item: Any) -> Any:
        if isinstance(item, str):
            return item
        if isinstance(item, Iterable):  # a pair
            return tuple(map(text, item))
        return "" if isna(item) else item

    return [text(item) for item in chain.from_iterable(groups(rows))], index


def text_frame(
    texts: Sequence[str], results: Sequence[Sentiment | None], classes: Sequence[str], index: Any
) -> DataFrame:
    """Return a row per text; a text without a word has a missing label and missing numbers."""
    columns: dict[str, Sequence[Any]] = {
        "text": texts,
        "label": [None if result is None else result.label for result in results],
        "score": [NAN if result is None else result.score for result in results],
    }
    rows = [[NAN] * len(classes) if result is None else result.probabilities for result in results]
    columns |= {f"p_{name}": [row[i] for row in rows] for i, name in enumerate(classes)}
    return _pandas().DataFrame(columns, index=index)


def phrase_frame(results: Sequence[Sentiment | None], classes: Sequence[str], index: Any) -> DataFrame:
    """Return a row per phrase, with the characters of the text that it covers and the index of the text."""
    found = [(i, result, node) for i, result in enumerate(results) if result for node in result.nodes]
    columns: dict[str, Sequence[Any]] = {
        "phrase": [node.text for _, _, node in found],
        "start": [result.offsets[node.span[0]][0] for _, result, node in found],
        "end": [result.offsets[node.span[1] - 1][1] for _, result, node in found],
        "label": [node.label for _, _, node in found],
        "score": [node.score for _, _, node in found],
    }
    columns |= {
        f"p_{name}": [node.probabilities[i] for _, _, node in found] for i, name in enumerate(classes)
    }
    rows = [i for i, _, _ in found]
    return _pandas().DataFrame(columns, index=rows if index is None else index[rows])


def pair_frame(
    pairs: Sequence[tuple[str, str]], results: Iterable[Relatedness | None], index: Any
) -> DataFrame:
    """Return a row per pair; the score is missing where a text has no word."""
    scores = [NAN if result is None else result.score for result in results]
    columns = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs], "score": scores}
    return _pandas().DataFrame(columns, index=index)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame needs pandas: pip install pandas") from None
    return pandas
