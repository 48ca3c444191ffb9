"""Paragraph-Vec (Le and Mikolov, 2014), rebuilt with gensim: a vector per phrase, and logistic regression on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough import Tree
from bough.errors import FormatError
from bough.files import read_json, read_tensors, write_json, write_tensors
from paper.systems.sentence import Floats, lab_module
from paper.systems.system import ABOUT

NUMBERS = "paragraphs.safetensors"
FORMAT = 1
ALPHA, LAST_ALPHA = 0.025, 1e-4  # where the rate starts and ends, in training and for a new text
GENSIM: dict[str, Any] = {  # frequent words are passed over (`sample`), as in word2vec
    "window": 8, "negative": 5, "hs": 0, "min_count": 1, "sample": 1e-3, "alpha": ALPHA, "min_alpha": LAST_ALPHA,
    "workers": 1,
}  # fmt: skip
STEPS = 30  # over a new text, for its vector
KINDS = ("dm", "dbow")  # words and paragraph predict the next word; the paragraph alone predicts its words
Words = tuple[str, ...]


@dataclass(frozen=True)
class ParagraphVec:
    """The system: every distinct labelled phrase is a paragraph, its vectors of both kinds joined.

    max Σ_t log p(w_t | paragraph, w_{t-8} .. w_{t+8}) for one kind, Σ_t log p(w_t | paragraph) for the other;
    softmax(W [d_dm; d_dbow] + b) is the class

    Examples:
        >>> import paper.systems
        >>> paper.systems.PARAGRAPH_VEC.name
        'paragraph-vec'
    """

    name: str = "paragraph-vec"
    about: str = "Paragraph-Vec (Le and Mikolov, 2014), rebuilt"
    differences: tuple[str, ...] = (
        "by gensim: the context's mean in the place of its concatenation, negative sampling in that of "
        "hierarchical softmax",
        "100 dimensions per kind, not 400",
        "the vector of a test sentence is found with all else fixed; it is no training paragraph",
        "binary: learnt from the phrases that are not neutral",
    )

    def fit(
        self, trees: Sequence[Tree], classes: int, seed: int, *, size: int = 100, epochs: int = 10
    ) -> FittedParagraphs:
        """Learn from every labelled phrase of the trees; `size` numbers per kind, `epochs` over all phrases."""
        labels = labelled_phrases(trees)
        if len(set(labels.values())) < 2:
            raise ValueError(f"{len(labels):,} labelled phrases of fewer than two classes")
        from sklearn.linear_model import SGDClassifier

        doc2vec = lab_module("gensim.models.doc2vec")
        documents = [doc2vec.TaggedDocument(words, [i]) for i, words in enumerate(labels)]
        models = []
        for dm in (1, 0):
            model = doc2vec.Doc2Vec(**GENSIM, dm=dm, vector_size=size, epochs=epochs, seed=seed)
            model.build_vocab(documents)
            model.train(documents, total_examples=model.corpus_count, epochs=epochs)
            models.append(model)
        rows = np.hstack([model.dv.vectors for model in models])
        mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-8
        regression = SGDClassifier(
            loss="log_loss", alpha=1e-4, average=True, max_iter=20, tol=None, random_state=seed
        )
        regression.fit((rows - mean) / scale, np.fromiter(labels.values(), np.int64, len(labels)))
        weight = np.zeros((classes, rows.shape[1]))
        bias = np.full(classes, -np.inf)  # a class that no phrase has
        two = len(regression.classes_) == 2  # scikit-learn has one row for two classes
        weight[regression.classes_] = (
            np.vstack([0 * regression.coef_, regression.coef_]) if two else regression.coef_
        )
        bias[regression.classes_] = np.hstack([0.0, regression.intercept_]) if two else regression.intercept_
        first = models[0].wv
        counts = {word: int(first.get_vecattr(word, "count")) for word in first.index_to_key}
        tensors = {"dm.words": first.vectors, "dm.out": models[0].syn1neg, "dbow.out": models[1].syn1neg}
        tensors |= {"mean": mean, "scale": scale, "weight": weight, "bias": bias}
        return FittedParagraphs(
            self, counts, {name: torch.tensor(value) for name, value in tensors.items()}, not two
        )

    def load(self, folder: Path | str) -> FittedParagraphs:
        """Read what `FittedParagraphs.save` wrote."""
        folder = Path(folder)
        about = read_json(folder / ABOUT)
        if about.get("format") != FORMAT or about.get("system") != self.name:
            found = f"format {about.get('format')!r} of {about.get('system')!r}"
            raise FormatError(f"{found}; this is format {FORMAT} of {self.name!r}", where=str(folder / ABOUT))
        return FittedParagraphs(
            self, about["counts"], read_tensors(folder / NUMBERS), about["one_against_rest"]
        )


@dataclass(frozen=True, eq=False)
class FittedParagraphs:
    """The words' weights of both kinds and the regression: all that a new text needs.

    Examples:
        >>> import paper.systems
        >>> from bough import Tree
        >>> good, bad = (Tree(parents=[-1], tokens=[word], labels=[k]) for k, word in enumerate(("bad", "good")))
        >>> fitted = paper.systems.PARAGRAPH_VEC.fit([good, bad], 2, seed=1, size=4, epochs=1)  # doctest: +SKIP
        >>> fitted.predict([good]).shape  # doctest: +SKIP
        (1, 2)
    """

    system: ParagraphVec
    counts: dict[str, int] = field(repr=False)  # the words, most frequent first, as the weights' rows
    tensors: dict[str, Tensor] = field(repr=False)
    one_against_rest: bool  # whether each class has a regression of its own

    def predict(self, trees: Sequence[Tree]) -> Floats:
        """(n, K) the probabilities of each sentence's classes."""
        models = [self._model(kind) for kind in KINDS]
        rows = [np.hstack([_vector(model, words_of(tree)) for model in models]) for tree in trees]
        t = {name: tensor.double() for name, tensor in self.tensors.items()}
        x = torch.from_numpy(np.array(rows).reshape(len(trees), t["weight"].shape[1]))  # (n, both kinds)
        scores = (x - t["mean"]) / t["scale"] @ t["weight"].T + t["bias"]  # (n, K)
        if not self.one_against_rest:
            return np.asarray(scores.softmax(dim=1).numpy())
        likely = scores.sigmoid()
        return np.asarray((likely / likely.sum(dim=1, keepdim=True)).numpy())

    def save(self, folder: Path | str) -> None:
        """Into a folder: numbers, words and how often each was seen; no code."""
        folder = Path(folder)
        write_tensors(folder / NUMBERS, {name: tensor.contiguous() for name, tensor in self.tensors.items()})
        about = {"format": FORMAT, "system": self.system.name, "gensim": lab_module("gensim").__version__}
        write_json(
            folder / ABOUT, {**about, "one_against_rest": self.one_against_rest, "counts": self.counts}
        )

    def _model(self, kind: str) -> Any:
        """gensim's model with the weights in place, to find the vectors of new texts."""
        out = self.tensors[f"{kind}.out"].numpy()
        doc2vec = lab_module("gensim.models.doc2vec")
        model = doc2vec.Doc2Vec(**GENSIM, dm=int(kind == "dm"), vector_size=out.shape[1])
        model.build_vocab_from_freq(self.counts, corpus_count=1)
        place = {word: i for i, word in enumerate(self.counts)}
        order = [place[word] for word in model.wv.index_to_key]
        model.syn1neg = out[order].copy()
        if kind == "dm":
            model.wv.vectors = self.tensors["dm.words"].numpy()[order].copy()
        return model


def words_of(tree: Tree) -> Words:
    """The words of a sentence, lower-cased."""
    tokens = tree.tokens or ()
    return tuple(str(tokens[node]).lower() for node in tree.words)


def labelled_phrases(trees: Sequence[Tree]) -> dict[Words, int]:
    """Every distinct phrase that has a label, lower-cased; the first label of a phrase counts."""
    found: dict[Words, int] = {}
    for tree in trees:
        words = words_of(tree)
        for (start, end), label in zip(tree.spans.tolist(), tree.labels or (), strict=True):
            if label is not None:
                found.setdefault(words[start:end], int(str(label)))
    return found


def _vector(model: Any, words: Words) -> Floats:
    """A new text's vector, from zero, by the steps of training with all weights of words fixed.

    gensim's own `infer_vector` starts at a draw that differs between processes.
    """
    doc2vec = lab_module("gensim.models.doc2vec")
    vector, free = np.zeros((1, model.vector_size), np.float32), np.ones(1, np.float32)
    work, inner = np.zeros(model.layer1_size, np.float32), np.zeros(model.layer1_size, np.float32)
    model.random.seed(0)
    for alpha in np.linspace(ALPHA, LAST_ALPHA, STEPS):
        buffers = (work,) if model.sg else (work, inner)
        train = doc2vec.train_document_dbow if model.sg else doc2vec.train_document_dm
        train(model, list(words), [0], alpha, *buffers, learn_words=False, learn_hidden=False,
              doctag_vectors=vector, doctags_lockf=free)  # fmt: skip
    return np.asarray(vector[0], dtype=np.float64)


PARAGRAPH_VEC = ParagraphVec()
"""The rebuilt system."""
