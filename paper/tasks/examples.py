"""Which trees, sentences and phrases are the examples of a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bough import Tree
from bough.models.batching import NO_SPANS, UNLABELLED, Sentence, prepare_all
from bough.models.config import Config
from bough.models.model import Model
from bough.train.tasks import Indices, shuffled
from bough.trees.builders import chain, subtree

Parse = Literal["constituency", "dependency"]
T = TypeVar("T")


def parse_for(config: Config, usual: Parse) -> Parse:
    """The trees that a configuration's layer reads; for one that reads words, the task's usual ones have them."""
    reads = config.kind.reads
    return usual if reads == "words" else reads


def alike(lengths: NDArray[np.int64], batch: int, rng: np.random.Generator) -> list[Indices]:
    """Return batches of examples of one length each, in a fresh order."""
    groups = [np.flatnonzero(lengths == length) for length in np.unique(lengths)]
    found = [group[chosen] for group in groups for chosen in shuffled(len(group), batch, rng)]
    return [found[i] for i in rng.permutation(len(found))]


def cut(examples: list[T], limit: int) -> list[T]:
    """The first so many; all, if the limit is 0."""
    return examples[:limit] if limit else examples


def phrases(trees: Sequence[Tree], model: Model) -> list[Sentence]:
    """Every distinct labelled phrase of the trees as a chain of words of its own; the first label of a phrase counts.

    Words without a vector of their own are one word here, as they are to the model.
    """
    found: dict[bytes, Sentence] = {}
    chains: dict[int, Tree] = {}
    for tree in trees:
        tokens, labels = tree.tokens or (), tree.labels or ()
        ids = model.ids(tokens[node] for node in tree.words)
        for (start, end), label in zip(tree.spans.tolist(), labels, strict=True):
            keys = ids[start:end]
            if label is not None and keys.tobytes() not in found:
                if end - start not in chains:
                    chains[end - start] = chain(end - start)
                at_words = np.full(end - start, UNLABELLED, dtype=np.int64)
                at_words[-1] = label
                found[keys.tobytes()] = Sentence(chains[end - start], keys, at_words, NO_SPANS)
    return list(found.values())


def phrases_alone(trees: Sequence[Tree], model: Model, count: int) -> list[Sentence]:
    """So many distinct phrases of two words or more as sentences of their own, spread over all there are."""
    found: dict[tuple[str, ...], tuple[Tree, int]] = {}
    for tree in trees:
        tokens, labels = tree.tokens or (), tree.labels or ()
        words = [str(tokens[node]) for node in tree.words]
        for node, (start, end) in enumerate(tree.spans.tolist()):
            if end - start > 1 and node != tree.root and labels[node] is not None:
                found.setdefault(tuple(words[start:end]), (tree, node))
    # by chance, but always the same
    ranked = sorted(found, key=lambda words: crc32(" ".join(words).encode()))
    return prepare_all([subtree(*found[words]) for words in ranked[:count]], model)
