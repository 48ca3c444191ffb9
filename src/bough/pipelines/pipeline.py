"""Predict for texts and trees: parse them, then classify every phrase, in batches."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import numpy as np
import torch
from numpy.typing import NDArray

from bough.data.examples import Example
from bough.models.batching import collate, prepare_all
from bough.models.model import Model
from bough.models.settings import check_device
from bough.nn.engine import one_thread
from bough.outputs import Report
from bough.pipelines import hub
from bough.pipelines.frames import DataFrame, frame_items, phrase_frame, text_frame
from bough.pipelines.prediction import Floats, Prediction
from bough.pipelines.readers import AT_ONCE, Cut, GivenReader, Read, groups, reader_for
from bough.text import Parser
from bough.text.join_sentences import join_sentences
from bough.trees.tree import Tree

Self = TypeVar("Self", bound="BasePipeline[Any]")
R = TypeVar("R")


class BasePipeline(Generic[R]):
    """Parse texts into trees, run a model over them in batches, and return its predictions.

    `card` is the README.md of the model's folder, `facts` the metadata that the folder keeps.

    Args:
        model: a model of the kind that the pipeline is for.
        parser: a name that `bough.text.get_parser` knows, or a parser.
        batch_size: the number of texts, trees or pairs that are parsed and scored together.
    """

    def __init__(self, model: Model, parser: str | Parser = "builtin", batch_size: int = AT_ONCE) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size}: at least 1")
        self.model, self.reader, self.batch_size = model, reader_for(model, parser), batch_size
        self.pairs, self.classes = model.output.pairs, model.output.classes
        self.card = ""
        self.facts: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        layer = f"{self.model.config.layer} layer of {self.model.config.hidden_size}"
        return f"{type(self).__name__}({self.model.output.describe()}; {layer}; trees: {self.model.trees})"

    @property
    def license(self) -> str | None:
        """The terms of use in the model's folder, or None. The card has the details."""
        license_text: str | None = self.facts.get("license")
        return license_text

    def to(self: Self, device: torch.device | str) -> Self:
        """Move the model to a device, such as "cuda", and return the pipeline."""
        check_device(device)
        self.model.to(device)
        return self

    def save(self, folder: Path | str) -> None:
        """Write the model to a folder that `bough.load` reads; see docs/format.md."""
        self.model.save(Path(folder), card=self.card, facts=self.facts)

    def push_to_hub(
        self, repository: str, *, license: str = "other", datasets: Sequence[str] = (), private: bool = False
    ) -> str:
        """Upload the model to the Hugging Face Hub as `org/name`, and return its address (extra `hub`).

        `license` and `datasets` go into the metadata of the card. `bough.load("org/name")` loads the model again.
        """
        with tempfile.TemporaryDirectory(prefix="bough-hub-") as folder:
            card = hub.with_metadata(self.card, license, list(datasets))
            self.model.save(Path(folder), card=card, facts=self.facts)
            return hub.upload(Path(folder), repository, private=private)

    @overload
    def stream(self, items: Iterable[Any]) -> Iterator[R]: ...
    @overload
    def stream(self, items: Iterable[Any], *, allow_empty: bool) -> Iterator[R | None]: ...

    def stream(self, items: Iterable[Any], *, allow_empty: bool = False) -> Iterator[R | None]:
        """Yield the prediction for each text, tree or pair, in order, a batch at a time.

        Memory does not grow with their number. A text without a word raises a ValueError; with
        `allow_empty` the prediction for it, or for its pair, is None.
        """
        first = 0
        for group in groups(items, self.batch_size):
            texts = [text for pair in group for text in pair] if self.pairs else group
            reads = self.reader.read(texts, first, allow_empty=allow_empty)
            sides = list(zip(reads[0::2], reads[1::2], strict=True)) if self.pairs else [(r,) for r in reads]
            if self.pairs:  # a tree is represented by its words
                both = zip(texts, reads, strict=True)
                shown = [text if isinstance(text, str) else " ".join(own[0].words) for text, own in both]
                group = list(zip(shown[0::2], shown[1::2], strict=True))
            known = [(item, own) for item, own in zip(group, sides, strict=True) if all(own)]
            results = iter(self._predict([item for item, _ in known], [own for _, own in known]))
            yield from (next(results) if all(own) else None for own in sides)
            first += len(texts)

    def _predict(self, items: Sequence[Any], reads: Sequence[Sequence[list[Read]]]) -> Sequence[R]:
        """Return the prediction for each item; `reads` has the sentences of its one or two texts."""
        raise NotImplementedError

    def predict(self, items: Iterable[Any]) -> list[Any]:
        """Return the class, the labels, the number, a list of the numbers, or the rating of each text, tree or pair."""
        return self.model.output.decide(self.predictions(items))

    def predict_proba(self, items: Iterable[Any]) -> NDArray[np.float64]:
        """Return (n, K), the probability of each class, label or step of a scale.

        A model that rates by the cosine has no probabilities.
        """
        output = self.model.output
        if not output.probabilistic:
            raise ValueError(f"this model predicts {output.describe()}, which predict returns")
        rows = [list(result.probabilities.values()) for result in self._results(items)]
        return np.array(rows, dtype=np.float64).reshape(
            len(rows), len(rows[0]) if rows else len(output.names)
        )

    def evaluate(self, items: Sequence[Any], labels: Sequence[Any]) -> Report:
        """Return the metrics of the predictions. `labels` are classes, lists of labels, numbers or ratings."""
        if len(items) != len(labels):
            raise ValueError(f"{len(items):,} examples, {len(labels):,} labels; one each")
        examples = [Example(f"label {index}", (), str(label), label) for index, label in enumerate(labels)]
        targets = self.model.output.encode(examples)
        return self.model.output.metrics(self.predictions(items), targets)

    def _results(self, items: Iterable[Any]) -> Iterator[Any]:
        return self.stream(items)

    def predictions(self, items: Iterable[Any]) -> NDArray[Any]:
        """Return the predictions, one row for each item, as the model's output has them."""
        rows = [result.whole for result in self._results(items)]
        return np.stack(rows) if rows else np.zeros((0, len(self.model.output.names)))


class Pipeline(BasePipeline[Prediction]):
    """Predict classes, several labels at once, or numbers for texts or trees.

    A model that was fitted on trees takes trees: a `Tree`, brackets, CoNLL-U, or a nested object or
    its JSON, with the keys of the training file.

    Args:
        model: a model whose layer has a state per phrase.
        parser: a name that `bough.text.get_parser` knows, or a parser.
        batch_size: the number of texts that are parsed and classified together.

    Examples:
        >>> import bough
        >>> sentiment = bough.load("sentiment")
        >>> sentiment("An overlong but funny film .").label
        'positive'
        >>> sentiment.predict(["Dull.", "A delight."])
        ['negative', 'very positive']
    """

    def __init__(self, model: Model, parser: str | Parser = "builtin", batch_size: int = AT_ONCE) -> None:
        if not model.layer.phrases:
            reason = f"layer {model.config.layer!r} has one state per sentence, too few to score phrases"
            raise ValueError(f"{reason}; use one with a state per node: 'constituency' or 'dependency'")
        super().__init__(model, parser, batch_size)

    @overload
    def __call__(self, text: str | None, *, tree: Tree | str | None = ...) -> Prediction: ...
    @overload
    def __call__(self, text: Tree | dict[str, Any]) -> Prediction: ...
    @overload
    def __call__(self, text: list[Any] | tuple[Any, ...]) -> list[Prediction]: ...

    def __call__(self, text: Any, *, tree: Tree | str | None = None) -> Prediction | list[Prediction]:
        """Return the prediction for one text or tree, or for each of a list.

        `tree` is the tree of a text of one sentence: a `Tree`, brackets or CoNLL-U. It replaces the
        parser's tree, and the text may be None. The `sentences` of a prediction are the predictions
        for each sentence of the text.
        """
        if tree is not None:
            if not (text is None or isinstance(text, str)):
                raise ValueError("a tree goes with one text, not with a list")
            whole, read = self.reader.given(text, tree)
            return self._predict([whole], [[[read]]])[0]
        if text is None:
            raise ValueError("neither a text nor a tree; give one of them")
        if isinstance(text, (str, Tree, Mapping)):
            return next(self.stream([text]))
        return list(self.stream(text))

    def of_words(self, texts: Sequence[str], cut: Cut) -> list[Prediction]:
        """Return the predictions for tokenised texts of at least one word.

        `cut[i][s]` are the tokens of sentence s of text i.
        """
        return self._predict(texts, [[read] for read in self.reader.parsed(cut)])

    def frame(self, texts: Iterable[str], *, phrases: bool = False) -> DataFrame:
        """Return the results as a pandas `DataFrame`: `text`, `label`, `score` and one `p_CLASS` per class.

        Several labels are in one column `labels`, and each number has a column. There is one row
        per text, with the index of a `Series`; a missing text, or one without a word, has missing
        results. With `phrases` there is one row per phrase: `phrase`, its range of characters
        `start` to `end` (exclusive), and the result.
        """
        items, index = frame_items(texts)
        results, output = list(self.stream(items, allow_empty=True)), self.model.output
        if phrases:
            return phrase_frame(results, output, index)
        return text_frame(items, results, output, index)

    def node_rows(self, trees: Sequence[Tree]) -> list[Floats]:
        """Return (nodes, T) for each tree: the probabilities or numbers of every node."""
        if not trees:
            return []
        model = self.model
        with inference(model):
            forest, ids = collate(prepare_all(trees, model), model)
            states, row_of = model.states(forest, ids)
            rows = model.output.predict(model.head, states)[row_of.cpu().numpy()]
        return np.split(rows, np.cumsum([len(tree) for tree in trees])[:-1])

    def _predict(self, items: Sequence[Any], reads: Sequence[Sequence[list[Read]]]) -> list[Prediction]:
        model, given = self.model, isinstance(self.reader, GivenReader)
        trees = [[read.tree for read in sentences] for (sentences,) in reads]
        # in one forest, the sentences of a joined tree are computed once: they are equal subtrees
        several = [own for own in trees if model.trees == "joined" and len(own) > 1]
        joined = [join_sentences(own, self.reader.tree_kind) for own in several]
        rows = iter(self.node_rows([tree for own in [*trees, joined] for tree in own]))
        sentence_rows = [[next(rows) for _ in own] for own in trees]
        texts = iter(values[tree.root] for values, tree in zip(rows, joined, strict=True))
        results = []
        for item, (sentences,), own in zip(items, reads, sentence_rows, strict=True):
            # the offsets of a given tree's words are those in the joined words
            text = item if isinstance(item, str) and not given else " ".join(sentences[0].words)
            whole = next(texts) if joined and len(own) > 1 else None
            results.append(Prediction(text, model.output, sentences, own, whole))
        return results


@contextmanager
def inference(model: Model) -> Iterator[None]:
    """Compute one batch without gradients, then forget its unknown words: memory must not grow with the texts.

    Use one thread, since the steps of a layer are small; with a transformer, use all threads of torch.
    """
    with one_thread() if model.encoder is None else nullcontext(), torch.inference_mode():
        yield
    model.forget_oov()
