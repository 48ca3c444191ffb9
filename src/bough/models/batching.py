"""Prepare trees for a model, and collate prepared trees into one forest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from bough.models.inputs import NodeBatch, NodeColumns, WordBags, words_of
from bough.models.model import Model, Words, WordsInTexts
from bough.models.transformer import joined_words, words_in_order
from bough.trees.builders import balanced, chain, word_nodes
from bough.trees.forest import Forest
from bough.trees.subtree_sharing import Digests, prepared
from bough.trees.tree import Tree
from bough.trees.validate import Ints

UNLABELLED = -1
NOT_IN_TEXT = -1
NO_SPANS: Ints = np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PreparedTree:
    """A tree as a model reads it: `keys` (n,) the row of each node's word, `labels` (n,), -1 for none.

    If a label is several values, such as numbers, it is the index of a row of `targets`. `spans`
    (k, 3) are start, end and label of the phrases that are no nodes, for a model that reads chains
    or balanced trees. For a transformer, a key is the index of the node's word in `text`, -1 for
    none.
    """

    tree: Tree
    keys: Ints
    labels: Ints
    spans: Ints
    digests: Digests | None = None  # of its subtrees, to find equal subtrees
    text: Sequence[str] = ()
    inner: bool = False  # whether it is a phrase of another tree
    targets: NDArray[np.float32] | None = None  # (k, T) if a label is several values
    weight: float = 1.0  # of the example in the loss
    columns: NodeColumns | None = None  # categories and numbers, if the model reads them
    bags: Sequence[Ints] | None = None  # the rows of the words of each node, if nodes have texts

    @property
    def labelled(self) -> int:
        """The number of labelled nodes."""
        return int(np.count_nonzero(self.labels != UNLABELLED))

    @property
    def label(self) -> int:
        """The label of the root."""
        return int(self.labels[self.tree.root])


def prepare_all(trees: Sequence[Tree], model: Model) -> list[PreparedTree]:
    """Return trees as `model` reads them, with digests of their subtrees if equal subtrees are shared."""
    found = [prepare(tree, model) for tree in trees]
    kind = model.config.kind
    if model.encoder is not None or kind.reads == "words" or kind.wants_relations:
        # an encoder shares nothing, chains need no digests, and digests do not include relations
        return found
    keys = [own for one in found if (own := _sharing_keys(one, model)) is not None]
    if len(keys) < len(found):
        return found
    digests = prepared([one.tree for one in found], keys)
    return [replace(one, digests=own) for one, own in zip(found, digests, strict=True)]


def prepare(tree: Tree, model: Model) -> PreparedTree:
    """Return a tree as `model` reads it: the tree itself, or a chain or a balanced tree of its words."""
    tokens = tree.tokens or (None,) * len(tree)
    labels = np.full(len(tree), UNLABELLED)
    rows = None
    if tree.labels is not None:
        labelled = [node for node, label in enumerate(tree.labels) if label is not None]
        targets = model.output.targets([tree.labels[node] for node in labelled])
        rows = targets if targets.ndim > 1 else None
        labels[labelled] = targets if rows is None else np.arange(len(labelled))
    text, keys = ((), model.ids(tokens)) if model.encoder is None else words_in_order(tree)
    columns = None if model.inputs is None else model.inputs.columns(tree)
    if model.config.kind.reads == "words":
        found = _chain(tree, keys[tree.words], labels)
        columns = columns and columns.take(tree.words)
    elif model.config.shape == "balanced":
        found = _balanced(tree, keys[tree.words], labels)
        if columns is not None:
            leaves = np.full(len(found.tree), NOT_IN_TEXT)
            leaves[found.tree.leaves] = tree.words
            columns = columns.take(leaves)
    else:
        bare = tree.replace(tokens=None, labels=None, relations=model.relation_ids(tree))
        found = PreparedTree(bare, keys, labels, NO_SPANS)
    bags = None
    if model.config.node_text:
        bags = [model.ids(() if token is None else words_of(token)) for token in tokens]
    return replace(found, text=text, targets=rows, columns=columns, bags=bags)


def _chain(tree: Tree, keys: Ints, labels: Ints) -> PreparedTree:
    inner = (tree.degrees > 0) & (labels != UNLABELLED) & (tree.parents >= 0)
    spans = np.concatenate([tree.spans[inner], labels[inner, None]], axis=1)
    at_words = np.full(len(keys), UNLABELLED, dtype=np.int64)
    at_words[-1] = labels[tree.root]
    return PreparedTree(chain(len(keys)), keys, at_words, spans)


def _balanced(tree: Tree, keys: Ints, labels: Ints) -> PreparedTree:
    shape = balanced(len(keys))
    labelled = {
        (start, end): label
        for (start, end), label in zip(tree.spans.tolist(), labels.tolist(), strict=True)
        if label != UNLABELLED
    }
    at_nodes = [labelled.pop((start, end), UNLABELLED) for start, end in shape.spans.tolist()]
    spans = np.array([(*span, label) for span, label in labelled.items()], dtype=np.int64).reshape(-1, 3)
    at_leaves = np.full(len(shape), NOT_IN_TEXT)
    at_leaves[shape.leaves] = keys
    return PreparedTree(shape, at_leaves, np.array(at_nodes, dtype=np.int64), spans)


def part(whole: PreparedTree, start: int, end: int, label: int) -> PreparedTree:
    """Return a phrase of a chain or a balanced tree as a separate tree with the same text."""
    words = word_nodes(whole.tree)
    shape = (chain if len(words) == len(whole.tree) else balanced)(end - start)
    keys = np.full(len(shape), NOT_IN_TEXT)
    keys[word_nodes(shape)] = whole.keys[words[start:end]]
    labels = np.full(len(shape), UNLABELLED, dtype=np.int64)
    labels[shape.root] = label
    columns = None
    if whole.columns is not None:
        nodes = np.full(len(shape), NOT_IN_TEXT)
        nodes[word_nodes(shape)] = words[start:end]
        columns = whole.columns.take(nodes)
    return PreparedTree(shape, keys, labels, NO_SPANS, text=whole.text, inner=True, columns=columns)


def collate(batch: Sequence[PreparedTree], model: Model) -> tuple[Forest, Words | NodeBatch]:
    """Return one forest, and the inputs of all nodes for `Model.look_up`.

    Equal subtrees are shared, unless they may differ by dropout, by their context or by their numbers.
    """
    trees, device = [one.tree for one in batch], model.table.device
    words: Words = torch.from_numpy(np.concatenate([one.keys for one in batch])).to(device)
    if model.encoder is not None:
        texts, places = joined_words((tuple(one.text), one.keys) for one in batch)
        words = WordsInTexts(torch.from_numpy(places).to(device), texts)
    elif model.config.node_text:
        bags = [rows for one in batch for rows in one.bags or ()]
        starts = np.cumsum([0, *(len(rows) for rows in bags[:-1])])
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *bags])
        words = WordBags(torch.from_numpy(rows).to(device), torch.from_numpy(starts).to(device))
    inputs: Words | NodeBatch = words
    if model.inputs is not None:
        columns = zip(*(one.columns for one in batch if one.columns is not None), strict=True)
        inputs = NodeBatch(words, *(torch.from_numpy(np.concatenate(own)).to(device) for own in columns))
    dropout = model.training and model.config.input_dropout
    keys = [own for one in batch if (own := _sharing_keys(one, model)) is not None]
    if dropout or not model.layer.shares or len(keys) < len(batch):
        return Forest(trees).to(device), inputs
    digests = [one.digests for one in batch if one.digests is not None]
    return Forest(trees, keys, digests=digests if len(digests) == len(trees) else None).to(device), inputs


def _sharing_keys(one: PreparedTree, model: Model) -> Ints | None:
    """Return (n,) integers, equal for nodes with equal inputs; None if no subtrees are shared."""
    if model.encoder is not None or model.config.node_text:
        return None
    if model.inputs is None or one.columns is None:
        return one.keys
    return model.inputs.keys(one.keys, one.columns, len(model.words))
