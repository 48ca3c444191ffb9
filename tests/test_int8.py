import torch
from hypothesis import given
from hypothesis import strategies as st

from bough.files import quantised


@given(st.lists(st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_quantising_is_off_by_half_a_step_at_most(values: list[list[float]]) -> None:
    matrix = torch.tensor(values)
    rows = quantised(matrix)
    assert rows.codes.dtype == torch.int8
    step = rows.scales.unsqueeze(1)
    assert bool(((rows.full() - matrix).abs() <= 0.5001 * step + 1e-6).all())


def test_zeros_stay_zeros() -> None:
    assert quantised(torch.zeros(2, 3)).full().abs().sum() == 0


def test_some_rows_are_those_of_the_whole_matrix() -> None:
    rows = quantised(torch.randn(5, 7))
    some = torch.tensor([[4, 0], [2, 2], [1, 3]])
    assert torch.equal(rows[some], rows.full()[some])
