"""Classify texts, by sentiment or by the user's classes: parse them, then score every phrase, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
import torch

from bough.models.batching import collate, prepare_all
from bough.models.metrics import Report, class_report
from bough.models.model import Model
from bough.pipelines.inference import BasePipeline, forget_unknown_words, threads
from bough.pipelines.readers import Cut, GivenReader, Parse, Read, groups, tree_as_text
from bough.pipelines.results import Floats, Sentiment, frame_items, phrase_frame, text_frame
from bough.text import Parser
from bough.trees.tree import Tree

if TYPE_CHECKING:
    from pandas import DataFrame


class SentimentPipeline(BasePipeline):
    """Texts to `Sentiment` results, in the model's own classes.

    Args:
        model: a model whose layer has a state per phrase.
        parser: a name that `bough.text.get_parser` knows, or a parser.

    Examples:
        >>> import bough
        >>> sentiment = bough.load("sentiment")
        >>> sentiment("An overlong but funny film .").label
        'positive'
    """

    def __init__(self, model: Model, parser: str | Parser = "builtin") -> None:
        if not model.layer.phrases:
            raise ValueError(
                f"encoder {model.config.layer!r} scores whole sentences; phrases need a Tree-LSTM, "
                "'constituency' or 'dependency'"
            )
        super().__init__(model, parser)
        self.classes = model.purpose.classes

    @overload
    def __call__(self, text: str | None, *, tree: Tree | str | None = None) -> Sentiment: ...
    @overload
    def __call__(self, text: Tree) -> Sentiment: ...
    @overload
    def __call__(self, text: list[str] | tuple[str, ...]) -> list[Sentiment]: ...
    @overload
    def __call__(self, text: list[Tree]) -> list[Sentiment]: ...

    def __call__(
        self,
        text: str | Tree | list[str] | list[Tree] | tuple[str, ...] | None,
        *,
        tree: Tree | str | None = None,
    ) -> Sentiment | list[Sentiment]:
        """Classify one text, or each text of a list.

        `tree` is the tree of a text that is one sentence: a `Tree`, brackets or CoNLL-U. Then no parser is used,
        and the text may be None. A text of several sentences gives one result, whose `sentences` are the results
        of each. A model fitted on trees takes trees instead of texts.
        """
        if isinstance(text, Tree):
            return self._scored_trees([text])[0]
        if isinstance(self.reader, GivenReader) and isinstance(text, (list, tuple)):
            trees = [self.reader.tree(item) for item in text]
            return [result for group in groups(trees) for result in self._scored_trees(group)]
        if tree is not None:
            if not (text is None or isinstance(text, str)):
                raise ValueError("a tree goes with one text, not with a list")
            whole, read = self.reader.given(text, tree)
            return self._scored([whole], [[read]])[0]
        if text is None:
            raise ValueError("neither a text nor a tree; give one of them")
        if isinstance(text, str):
            return self._scored([text], self.reader.read([text]))[0]
        return list(self.stream(text))  # type: ignore[arg-type]

    def stream(self, texts: Iterable[str]) -> Iterator[Sentiment]:
        """Yield the result of each text, in order, one batch at a time: memory does not grow with their number."""
        first = 0
        for group in groups(texts):
            yield from self._scored(group, self.reader.read(group, first))
            first += len(group)

    def stream_any(self, texts: Iterable[str]) -> Iterator[Sentiment | None]:
        """Yield the result of each text as `stream` does, with None for a text without words."""
        for group in groups(texts):
            reads = self.reader.read_any(group)
            spoken = [text for text, read in zip(group, reads, strict=True) if read]
            results = iter(self._scored(spoken, [read for read in reads if read]))
            yield from (next(results) if read else None for read in reads)

    def of_words(self, texts: Sequence[str], cut: Cut, parse: Parse | None = None) -> list[Sentiment]:
        """Classify tokenised texts of at least one word.

        `cut` are the tokens of each text, sentence by sentence; `parse` replaces the pipeline's parser and returns
        trees of the kind that the model reads.
        """
        return self._scored(list(texts), self.reader.parsed(cut, parse))

    def frame(self, texts: Iterable[str], *, phrases: bool = False) -> DataFrame:
        """Return the results as a pandas `DataFrame`: `text`, `label`, `score` and one `p_CLASS` per class.

        One row per text, with the index of a `Series`; a missing text, or one without a word, has missing results.
        With `phrases` one row per phrase: `phrase`, the characters `start` and `end` that it covers, and the same.
        """
        items, index = frame_items(texts)
        results = list(self.stream_any(items))
        if phrases:
            return phrase_frame(results, self.classes, index)
        return text_frame(items, results, self.classes, index)

    def evaluate(self, texts: Sequence[str] | Sequence[Tree], labels: Sequence[object]) -> Report:
        """Return accuracy, precision and recall per class, and the confusion matrix."""
        numbers = {name: number for number, name in enumerate(self.classes)}
        for place, label in enumerate(labels):
            if str(label) not in numbers:
                raise ValueError(
                    f"label {place}, {label!r}: the model has {', '.join(map(repr, self.classes[:8]))}"
                )
        if len(texts) != len(labels):
            raise ValueError(f"{len(texts):,} texts, {len(labels):,} labels; one each")
        predicted = np.array([result.probabilities for result in self(list(texts))])  # type: ignore[arg-type]
        return class_report(self.classes, predicted, np.array([numbers[str(label)] for label in labels]))

    def probabilities(self, trees: Sequence[Tree]) -> list[Floats]:
        """Return (nodes, classes) for each tree: the probabilities of every node."""
        if not trees:
            return []
        with threads(self.model), torch.inference_mode():
            forest, ids = collate(prepare_all(trees, self.model), self.model)
            states, row_of = self.model.states(self.model.look_up(forest, ids), forest)
            rows = self.model.head(states).softmax(dim=1).index_select(0, row_of).numpy()
        forget_unknown_words(self.model)
        return np.split(rows, np.cumsum([len(tree) for tree in trees])[:-1])

    def _scored(self, texts: list[str], reads: list[list[Read]]) -> list[Sentiment]:
        scored = iter(self.probabilities([read.tree for text in reads for read in text]))
        ordered = self.model.purpose.ordered
        return [
            Sentiment(text, self.classes, sentences, [next(scored) for _ in sentences], ordered=ordered)
            for text, sentences in zip(texts, reads, strict=True)
        ]

    def _scored_trees(self, trees: list[Tree]) -> list[Sentiment]:
        given = [tree_as_text(self.reader.shaped(tree)) for tree in trees]
        return self._scored([text for text, _ in given], [[read] for _, read in given])
