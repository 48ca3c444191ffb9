"""The one road from trees to a forest: what a model reads of each tree, worked out once, and many as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from bough.models.model import NO_WORD, InTexts, Model
from bough.models.pair_features import Side, side
from bough.models.transformer import Text, in_order
from bough.trees.builders import balanced, chain, word_nodes
from bough.trees.forest import Forest
from bough.trees.subtree_sharing import Words, prepared
from bough.trees.tree import Tree
from bough.trees.validate import Ints

UNLABELLED = -1
NO_PLACE = -1  # in a text
NO_SPANS: Ints = np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence: `keys` (n,) the row of each node's word, `labels` (n,), -1 where there is none.

    `spans` (k, 3) are start, end and label of the phrases inside it that are not nodes, for a model that reads words
    in a row or halves of them. For a transformer a key is the word's place in `text`, -1 where there is no word.
    """

    tree: Tree
    keys: Ints
    labels: Ints
    spans: Ints
    digests: Words | None = None
    text: Text = ()
    inner: bool = False  # a phrase inside another one
    side: Side | None = None  # what the features of a pair are made of, where the model has them

    @property
    def label(self) -> int:
        """The whole sentence's."""
        return int(self.labels[self.tree.root])


def prepare_all(trees: Sequence[Tree], model: Model) -> list[Sentence]:
    """Trees as `model` reads them."""
    sentences = [prepare(tree, model) for tree in trees]
    kind = model.config.kind
    if model.encoder is not None or kind.reads == "words" or kind.wants_relations:
        return sentences  # nothing is shared; chains need no digests; relations make them another matter
    found = prepared([sentence.tree for sentence in sentences], [sentence.keys for sentence in sentences])
    return [replace(sentence, digests=digests) for sentence, digests in zip(sentences, found, strict=True)]


def prepare(tree: Tree, model: Model) -> Sentence:
    """A tree as `model` reads it: as it is, or as a chain of its words for a layer that reads words."""
    tokens = tree.tokens or (None,) * len(tree)
    if tree.labels is None:
        labels = np.full(len(tree), UNLABELLED)
    else:
        labels = np.array([UNLABELLED if label is None else label for label in tree.labels], dtype=np.int64)
    text, keys = ((), model.ids(tokens)) if model.encoder is None else in_order(tree)
    if model.config.kind.reads == "words":
        found = _in_a_row(tree, keys[tree.words], labels, text)
    elif model.config.shape == "balanced":
        found = _halved(tree, keys[tree.words], labels, text)
    else:
        bare = tree.replace(tokens=None, labels=None, relations=model.relation_ids(tree))
        found = Sentence(bare, keys, labels, NO_SPANS, text=text)
    return replace(found, side=_side(tree, model)) if model.config.pair_features else found


@torch.no_grad()
def _side(tree: Tree, model: Model) -> Side:
    rows = torch.from_numpy(model.ids(tree.tokens or (None,) * len(tree))).to(model.table.device)
    rarity = model.rarity[rows.clamp(max=len(model.rarity) - 1)].masked_fill(rows >= len(model.rarity), 1.0)
    vectors = model.vectors(rows).masked_fill((rows == NO_WORD).unsqueeze(1), 0.0)
    return side(tree, rarity.cpu().numpy(), vectors.cpu().numpy())


def _in_a_row(tree: Tree, ids: Ints, labels: Ints, text: Text) -> Sentence:
    inner = (tree.degrees > 0) & (labels != UNLABELLED) & (tree.parents >= 0)
    spans = np.concatenate([tree.spans[inner], labels[inner, None]], axis=1)
    at_words = np.full(len(ids), UNLABELLED, dtype=np.int64)
    at_words[-1] = labels[tree.root]
    return Sentence(chain(len(ids)), ids, at_words, spans, text=text)


def _halved(tree: Tree, ids: Ints, labels: Ints, text: Text) -> Sentence:
    shape = balanced(len(ids))
    labelled = {
        (start, end): label
        for (start, end), label in zip(tree.spans.tolist(), labels.tolist(), strict=True)
        if label != UNLABELLED
    }
    found = [labelled.pop((start, end), UNLABELLED) for start, end in shape.spans.tolist()]
    spans = np.array([(*span, label) for span, label in labelled.items()], dtype=np.int64).reshape(-1, 3)
    keys = np.full(len(shape), NO_PLACE)
    keys[shape.leaves] = ids
    return Sentence(shape, keys, np.array(found, dtype=np.int64), spans, text=text)


def part(sentence: Sentence, start: int, end: int, label: int) -> Sentence:
    """A phrase of a sentence of words in a row, or halves of them, as one of its own within the same text."""
    words = word_nodes(sentence.tree)
    shape = (chain if len(words) == len(sentence.tree) else balanced)(end - start)
    keys = np.full(len(shape), NO_PLACE)
    keys[word_nodes(shape)] = sentence.keys[words[start:end]]
    labels = np.full(len(shape), UNLABELLED, dtype=np.int64)
    labels[shape.root] = label
    return Sentence(shape, keys, labels, NO_SPANS, text=sentence.text, inner=True)


def collate(sentences: Sequence[Sentence], model: Model) -> tuple[Forest, Tensor | InTexts]:
    """Return one forest and the word of every node.

    Equal phrases are shared unless dropout or their context tells them apart.
    """
    keys = [sentence.keys for sentence in sentences]
    contextual = model.encoder is not None
    apart = contextual or not model.layer.shares or (model.training and model.config.input_dropout)
    trees = [sentence.tree for sentence in sentences]
    digests = [sentence.digests for sentence in sentences if sentence.digests is not None]
    forest = (
        Forest(trees)
        if apart
        else Forest(trees, keys, digests=digests if len(digests) == len(trees) else None)
    )
    ids = torch.from_numpy(np.concatenate(keys) if forest.keys is None else forest.keys)
    device = model.table.device
    forest = forest.to(device)
    return forest, _in_texts(sentences, device) if contextual else ids.to(device)


def _in_texts(sentences: Sequence[Sentence], device: torch.device) -> InTexts:
    starts: dict[tuple[str, ...], int] = {}
    before, places = 0, []
    for sentence in sentences:
        text = tuple(sentence.text)
        if text not in starts:
            starts[text] = before
            before += len(text)
        places.append(np.where(sentence.keys < 0, NO_PLACE, sentence.keys + starts[text]))
    return InTexts(torch.from_numpy(np.concatenate(places)).to(device), list(starts))
