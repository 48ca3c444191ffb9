"""Against the sum over every binary tree, written out."""

from collections.abc import Iterator

import numpy as np
import torch

from bough.parsing.builtin.chart import best_spans, log_partition, span_probabilities, tree_scores

LENGTHS = torch.tensor([6, 4, 2, 1])


def every_tree(start: int, end: int) -> Iterator[list[tuple[int, int]]]:
    if end - start == 1:
        yield []
        return
    for middle in range(start + 1, end):
        for left in every_tree(start, middle):
            for right in every_tree(middle, end):
                yield [(start, end), *left, *right]


def total(scores: torch.Tensor, spans: list[tuple[int, int]]) -> torch.Tensor:
    return sum((scores[start, end - start] for start, end in spans), torch.zeros((), dtype=scores.dtype))


def random_scores() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(4, 7, 7, dtype=torch.float64, generator=generator).requires_grad_()


def test_log_partition_sums_over_every_tree() -> None:
    scores = random_scores()
    found = log_partition(scores, LENGTHS)
    for sentence, length in enumerate(LENGTHS.tolist()):
        each = torch.stack([total(scores[sentence], tree) for tree in every_tree(0, length)])
        torch.testing.assert_close(found[sentence], torch.logsumexp(each, dim=0))


def test_its_gradient_is_right_and_is_the_probability_of_each_span() -> None:
    scores = random_scores()
    assert torch.autograd.gradcheck(lambda s: log_partition(s, LENGTHS), (scores,))
    log_partition(scores, LENGTHS).sum().backward()
    assert scores.grad is not None
    torch.testing.assert_close(
        scores.grad[0].sum(), torch.tensor(5.0, dtype=torch.float64)
    )  # n - 1 spans a tree
    torch.testing.assert_close(scores.grad[0, 0, 6], torch.tensor(1.0, dtype=torch.float64))


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
    for sentence, spans in enumerate(best_spans(scores.numpy(), LENGTHS.numpy())):
        trees = list(every_tree(0, int(LENGTHS[sentence])))
        best = max(trees, key=lambda tree: float(total(scores[sentence], tree)))
        assert spans == best


def test_tree_scores_add_up_by_sentence() -> None:
    scores = random_scores().detach()
    batch, start, width = torch.tensor([0, 0, 2]), torch.tensor([0, 1, 0]), torch.tensor([3, 2, 2])
    found = tree_scores(scores, batch, start, width)
    assert found.tolist() == [float(scores[0, 0, 3] + scores[0, 1, 2]), 0.0, float(scores[2, 0, 2]), 0.0]


def test_no_sentences_no_trees() -> None:
    assert best_spans(np.zeros((0, 1, 1), np.float32), np.zeros(0, np.int64)) == []
