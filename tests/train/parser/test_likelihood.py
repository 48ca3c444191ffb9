"""Against the sum over every binary tree, written out."""

import torch

from bough.train.parser.learner import log_partition
from bracketings import LENGTHS, every_tree, random_scores, total


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
