"""Claims about the share of a batch that a rank takes; training under torchrun is tested in tests/lab/paper."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from bough.train.distributed import Ranks
from bough.train.tasks import Share


@given(st.lists(st.integers(1, 100), min_size=1, max_size=60), st.integers(1, 8))
def test_shares_are_runs_of_the_batch_even_in_nodes(sizes: list[int], count: int) -> None:
    cuts = [Ranks(number, count).cut(np.array(sizes)) for number in range(count)]
    assert [start for start, _ in cuts] == [0, *(end for _, end in cuts[:-1])]
    assert cuts[-1][1] == len(sizes)
    nodes = [sum(sizes[start:end]) for start, end in cuts]
    assert max(nodes) <= sum(sizes) / count + max(sizes)


def test_a_share_of_nothing_counts_for_nothing_and_still_draws() -> None:
    share = Share([3, 4], 1, 1)
    assert (list(share.own), share.weight) == ([3], 0.0)
    assert share.expanded([[1, 2], [5]]).weight == 0.0
    assert share.part(torch.tensor(2.0)) == 0.0
