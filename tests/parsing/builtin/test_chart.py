"""Against the sum over every binary tree, written out."""

import numpy as np
import torch

from bough.parsing.builtin.chart import best_parents, span_probabilities
from bough.trees.tree import Tree
from bracketings import LENGTHS, every_tree, random_scores, total


def test_span_probabilities_are_shares_of_the_trees() -> None:
    scores = random_scores().detach()
    found = span_probabilities(scores, LENGTHS)
    trees = list(every_tree(0, 4))
    weights = torch.softmax(torch.stack([total(scores[1], tree) for tree in trees]), dim=0)
    for start, end in [(0, 2), (1, 3), (1, 4), (0, 4)]:
        share = sum(weight for weight, tree in zip(weights, trees, strict=True) if (start, end) in tree)
        torch.testing.assert_close(found[1, start, end - start], torch.as_tensor(share))


def test_the_best_tree_is_the_best_of_all() -> None:
    scores = random_scores().detach()
    for sentence, parents in enumerate(best_parents(scores.numpy(), LENGTHS.numpy())):
        tree = Tree(parents)
        spans = [(start, end) for start, end in tree.spans.tolist() if end - start > 1]
        trees = list(every_tree(0, int(LENGTHS[sentence])))
        best = max(trees, key=lambda tree: float(total(scores[sentence], tree)))
        assert spans == best
        assert tree.preorder.tolist() == list(range(len(tree)))


def test_no_sentences_no_trees() -> None:
    assert best_parents(np.zeros((0, 1, 1), np.float32), np.zeros(0, np.int64)) == []
