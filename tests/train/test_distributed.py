"""Claims about the share of a batch that a rank takes; training under torchrun is tested in tests/lab/paper."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bough.train.distributed import Ranks


@given(st.lists(st.integers(1, 100), min_size=1, max_size=60), st.integers(1, 8))
def test_shares_are_runs_of_the_batch_even_in_nodes(sizes: list[int], count: int) -> None:
    shares = [Ranks(number, count).share(np.array(sizes)) for number in range(count)]
    assert [share.start for share in shares] == [0, *(share.stop for share in shares[:-1])]
    assert shares[-1].stop == len(sizes)
    assert max(sum(sizes[share]) for share in shares) <= sum(sizes) / count + max(sizes)
