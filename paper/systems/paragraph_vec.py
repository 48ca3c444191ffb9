"""Paragraph-Vec (Le and Mikolov, 2014), with gensim: a vector per phrase, and a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

from bough import Tree
from paper.sst import words_of
from paper.systems.sentence import Floats, lab_module

ALPHA, LAST_ALPHA = 0.025, 1e-4  # the first and the last learning rate, in training and for a new text
GENSIM: dict[str, Any] = {  # `sample` skips frequent words at random, as in word2vec
    "window": 8, "negative": 5, "hs": 0, "min_count": 1, "sample": 1e-3, "alpha": ALPHA, "min_alpha": LAST_ALPHA,
    "workers": 1,
}  # fmt: skip
SGD: dict[str, Any] = {"loss": "log_loss", "alpha": 1e-4, "average": True, "max_iter": 20, "tol": None}
STEPS = 30  # training steps for the vector of a new text
Words = tuple[str, ...]


@dataclass(frozen=True)
class ParagraphVec:
    """The system. Every distinct labelled phrase is a paragraph, and its vectors of two kinds are concatenated.

    For the kind "dm", words and paragraph predict the next word; for "dbow", the paragraph alone predicts its words.

    max Σ_t log p(w_t | paragraph, w_{t-8} .. w_{t+8}) for one kind, Σ_t log p(w_t | paragraph) for
    the other; softmax(W [d_dm; d_dbow] + b) is the class

    Examples:
        >>> import paper.systems
        >>> paper.systems.PARAGRAPH_VEC.name
        'paragraph-vec'
    """

    name: str = "paragraph-vec"

    def fit(
        self, trees: Sequence[Tree], classes: int, seed: int, *, size: int = 100, epochs: int = 10
    ) -> FittedParagraphs:
        """Fit the system to every labelled phrase, with vectors of `size` numbers for each kind."""
        labels = labelled_phrases(trees)
        if len(set(labels.values())) < 2:
            raise ValueError(f"{len(labels):,} labelled phrases of fewer than two classes")
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
        regression = SGDClassifier(**SGD, random_state=seed)
        regression.fit((rows - mean) / scale, np.fromiter(labels.values(), np.int64, len(labels)))
        return FittedParagraphs([_word_model(model) for model in models], mean, scale, regression, classes)


@dataclass(frozen=True, eq=False, repr=False)
class FittedParagraphs:
    """The word models of both kinds, and the regression on their standardised vectors.

    Examples:
        >>> import paper.systems
        >>> from bough import Tree
        >>> good, bad = (Tree(parents=[-1], tokens=[word], labels=[k]) for k, word in enumerate(("bad", "good")))
        >>> fitted = paper.systems.PARAGRAPH_VEC.fit([good, bad], 2, seed=1, size=4, epochs=1)  # doctest: +SKIP
        >>> fitted.predict([good]).shape  # doctest: +SKIP
        (1, 2)
    """

    models: list[Any]
    mean: Floats
    scale: Floats
    regression: Any
    classes: int

    def predict(self, trees: Sequence[Tree]) -> Floats:
        """Return the probabilities (n, K) of the classes of each sentence."""
        p = np.zeros((len(trees), self.classes))  # zero for a class that no phrase has
        if trees:
            kinds = [[infer_vector(model, lower_words(tree)) for tree in trees] for model in self.models]
            x = (np.hstack(kinds) - self.mean) / self.scale  # (n, both kinds)
            p[:, self.regression.classes_] = self.regression.predict_proba(x)
        return p


def _word_model(trained: Any) -> Any:
    """Return a model with the words of a trained one and without its paragraphs.

    gensim orders words of equal counts in another way here, which changes the negative samples for a new text.
    """
    model = type(trained)(**GENSIM, dm=int(trained.dm), vector_size=trained.vector_size)
    counts = {word: trained.wv.get_vecattr(word, "count") for word in trained.wv.index_to_key}
    model.build_vocab_from_freq(counts, corpus_count=1)
    order = [trained.wv.key_to_index[word] for word in model.wv.index_to_key]
    model.syn1neg, model.wv.vectors = trained.syn1neg[order], trained.wv.vectors[order]
    return model


def lower_words(tree: Tree) -> Words:
    """Return the words of a sentence, lower-cased."""
    return tuple(word.lower() for word in words_of(tree))


def labelled_phrases(trees: Sequence[Tree]) -> dict[Words, int]:
    """Return every distinct labelled phrase, lower-cased, with its first label."""
    found: dict[Words, int] = {}
    for tree in trees:
        words = lower_words(tree)
        for (start, end), label in zip(tree.spans.tolist(), tree.labels or (), strict=True):
            if label is not None:
                found.setdefault(words[start:end], int(str(label)))
    return found


def infer_vector(model: Any, words: Words) -> Floats:
    """Return the vector of a new text. It starts at zero and is trained with the weights of all words fixed.

    gensim's own `infer_vector` starts at a random vector that differs between processes.
    """
    doc2vec = lab_module("gensim.models.doc2vec")
    vector, free = np.zeros((1, model.vector_size), np.float32), np.ones(1, np.float32)
    work, inner = np.zeros(model.layer1_size, np.float32), np.zeros(model.layer1_size, np.float32)
    model.random.seed(0)
    buffers = (work,) if model.sg else (work, inner)
    train = doc2vec.train_document_dbow if model.sg else doc2vec.train_document_dm
    for alpha in np.linspace(ALPHA, LAST_ALPHA, STEPS):
        train(model, list(words), [0], alpha, *buffers, learn_words=False, learn_hidden=False,
              doctag_vectors=vector, doctags_lockf=free)  # fmt: skip
    return np.asarray(vector[0], dtype=np.float64)


PARAGRAPH_VEC = ParagraphVec()
"""The rebuilt system."""
