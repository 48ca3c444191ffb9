"""A component for spaCy: `nlp.add_pipe("bough_sentiment")`, then `doc._.sentiment` and `span._.sentiment`.

spaCy finds it by its entry point, so that nothing of bough need be imported.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bough.draw.palette import COLOURS
from bough.outputs import read_output
from bough.outputs.classes import SENTIMENT
from bough.pipelines import load
from bough.pipelines.prediction import Phrase, Prediction
from bough.pipelines.readers import Read, groups
from bough.text.tokenise import Token, sentences
from bough.trees.tree import Tree

try:
    from spacy.language import Language
    from spacy.tokens import Doc, Span
except ImportError:
    raise ImportError('bough.spacy needs spaCy: pip install "bough[spacy]"') from None

NAME = "bough_sentiment"
NEUTRAL = "neutral"
# the values that a Doc stores -> its prediction and phrases, made once for many accesses
_read: WeakKeyDictionary[Doc, tuple[Any, Prediction, dict[tuple[int, int], Phrase]]] = WeakKeyDictionary()


class SentimentComponent:
    """Score every phrase of a Doc, over spaCy's words and sentences.

    The component sets:

    - `doc._.sentiment`: a `Prediction`, or None for a Doc without a word;
    - `span._.sentiment`: a `Phrase`, or None for a span that is not a phrase;
    - `doc.spans["sentiment"]`: every phrase, with its class as label;
    - `doc.spans["sentiment_turns"]`, for displaCy: the phrases that are not neutral and whose class differs from
      that of the enclosing phrase;
    - spaCy's own `doc.sentiment`: the score.

    Args:
        model: `sentiment`, or the folder of a model of texts with classes.
        parser: a name that `bough.text.get_parser` knows.
        spans_key: the key for the phrases instead of `sentiment`.
    """

    def __init__(
        self, model: str = "sentiment", parser: str = "builtin", spans_key: str = "sentiment"
    ) -> None:
        self.pipeline, self.spans_key = load(model, parser=parser), spans_key
        model_of = self.pipeline.model
        if not model_of.output.exclusive or self.pipeline.pairs or model_of.trees == "given":
            needed = f"{NAME} needs a model such as 'sentiment'"
            raise ValueError(f"the model {model!r} has no classes of texts; {needed}")

    def __call__(self, doc: Doc) -> Doc:
        """Score a Doc."""
        self._score([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Score Docs a batch at a time."""
        for docs in groups(stream, batch_size):
            self._score(docs)
            yield from docs

    def _score(self, docs: Sequence[Doc]) -> None:
        tokens = [words_of(doc) for doc in docs]
        texts = [doc.text for doc, own in zip(docs, tokens, strict=True) if own]
        results = iter(self.pipeline.of_words(texts, [own for own in tokens if own]))
        for doc, own in zip(docs, tokens, strict=True):
            _store(doc, next(results) if own else None, self.spans_key)


def words_of(doc: Doc) -> list[list[Token]]:
    """Return the words of a Doc, sentence by sentence, in the treebank's form, without white space.

    The words are spaCy's. Several that are one word in the treebank, such as `well-made`, are
    joined, because the models were trained on the treebank's words. The sentences are found here if
    no component of the pipeline sets them.
    """
    own = sentences(doc.text)
    ends = {word.idx + len(word.text) for word in doc}
    forms = {token.start: token for sentence in own for token in sentence if token.end in ends}
    starts = {sentence[0].start for sentence in own}
    known = doc.has_annotation("SENT_START")
    found: list[list[Token]] = []
    begins, done = True, 0
    for word in doc:
        begins |= bool(word.is_sent_start) if known else word.idx in starts
        if word.is_space or word.idx < done:
            continue
        if begins:
            found.append([])
            begins = False
        token = Token(word.text, word.idx, word.idx + len(word.text))
        form = forms.get(token.start, token)
        found[-1].append(form)
        done = form.end
    return found


# ------------------------------------------------------------------ what a Doc stores


def _store(doc: Doc, result: Prediction | None, key: str) -> None:
    """Store plain values, which `doc.to_bytes` can write, and the phrases as spans."""
    doc.user_data[NAME] = None if result is None else _plain(result)
    doc.sentiment = 0.0 if result is None else result.score
    nodes = () if result is None else result.nodes
    around = {child: node.label for node in nodes for child in node.children}
    turns = [node for place, node in enumerate(nodes) if node.label not in (around.get(place), NEUTRAL)]
    for name, phrases in ((key, nodes), (f"{key}_turns", turns)):
        spans = (doc.char_span(*_covered(result, phrase), label=phrase.label) for phrase in phrases if result)
        doc.spans[name] = [span for span in spans if span is not None]


def _covered(result: Prediction, phrase: Phrase) -> tuple[int, int]:
    """Return the characters that a phrase covers."""
    first, last = phrase.span[0], phrase.span[1] - 1
    return result.offsets[first][0], result.offsets[last][1]


def _plain(result: Prediction) -> dict[str, Any]:
    sentences = []
    for read, rows in result.parts:
        words, tokens = [list(token) for token in read.tokens], list(read.tree.tokens or ())
        tree = {"parents": read.tree.parents.tolist(), "tokens": tokens}
        sentences.append({"words": words, **tree, "probabilities": rows})
    about = {"output": result.output.as_dict(), "whole": result.whole}
    return {**about, "sentences": sentences}


def _known(doc: Doc) -> tuple[Prediction | None, dict[tuple[int, int], Phrase]]:
    """Return the result of a Doc, if it has one, and its phrases by the characters they cover."""
    stored = doc.user_data.get(NAME)
    if stored is None:
        return None, {}
    if doc not in _read or _read[doc][0] is not stored:
        reads, rows = [], []
        for part in stored["sentences"]:
            tree = Tree(part["parents"], tokens=part["tokens"])
            reads.append(Read([Token(*word) for word in part["words"]], tree))
            rows.append(np.asarray(part["probabilities"], dtype=np.float32))
        output = read_output(stored["output"])
        result = Prediction(doc.text, output, reads, rows, stored["whole"])
        phrases: dict[tuple[int, int], Phrase] = {}
        for phrase in result.nodes:
            phrases.setdefault(_covered(result, phrase), phrase)
        _read[doc] = stored, result, phrases
    return _read[doc][1:]


def _of_span(span: Span) -> Phrase | None:
    text = span.text
    start = span.start_char + len(text) - len(text.lstrip())
    return _known(span.doc)[1].get((start, start + len(text.strip())))


def colours() -> dict[str, str]:
    """Return the colours of the bundled model's classes, for displaCy."""
    return dict(zip(SENTIMENT, COLOURS, strict=True))


Doc.set_extension(
    "sentiment", getter=lambda doc: _known(doc)[0], force=True
)  # again, where a notebook loads this again
Span.set_extension("sentiment", getter=_of_span, force=True)


@Language.factory(
    NAME,
    default_config={"model": "sentiment", "parser": "builtin", "spans_key": "sentiment"},
    assigns=["doc._.sentiment", "span._.sentiment", "doc.spans"],
)
def make(nlp: Language, name: str, model: str, parser: str, spans_key: str) -> SentimentComponent:
    """Create the component for `nlp.add_pipe("bough_sentiment", config={...})`."""
    return SentimentComponent(model, parser, spans_key)
