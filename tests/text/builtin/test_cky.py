"""Against the sum over every binary tree, written out."""

import numpy as np
import pytest
import torch

from bough.nn.kernels.parser import brackets
from bough.text.builtin.cky import best_parents, span_probabilities
from bough.text.builtin.network import by_width
from bough.trees.tree import Tree
from bracketings import LENGTHS, every_tree, random_scores, total
from kernel_cases import every_isa, needs_c, on


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


@needs_c
@every_isa
@pytest.mark.parametrize("longest", [1, 2, 3, 9, 17, 40])
def test_the_compiled_chart_finds_the_same_trees(
    longest: int, isa: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")
    on(isa, monkeypatch)
    generator = torch.Generator().manual_seed(longest)
    lengths = torch.randint(1, longest + 1, (30,), generator=generator)
    lengths[0] = longest
    scores = by_width(4 * torch.randn(30, longest + 1, longest + 1, generator=generator))
    found = brackets(scores, lengths.numpy())
    assert found is not None
    wanted = best_parents(span_probabilities(scores, lengths).numpy(), lengths.numpy())
    assert [parents.tolist() for parents in found] == [parents.tolist() for parents in wanted]


@needs_c
def test_the_compiled_chart_makes_a_tree_of_any_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")
    for score in (torch.nan, torch.inf, -torch.inf, 1e30, 0.0):
        (parents,) = brackets(torch.full((1, 10, 10), score), np.array([9])) or []
        assert Tree(parents).preorder.tolist() == list(range(17))


def test_what_the_compiled_chart_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, lengths = torch.zeros(1, 3, 3), np.array([2])
    assert brackets(scores.double(), lengths) is None
    assert brackets(scores, np.array([3])) is None
    assert brackets(scores, lengths[:0]) is None
    monkeypatch.setenv("BOUGH_FAST", "0")
    assert brackets(scores, lengths) is None
