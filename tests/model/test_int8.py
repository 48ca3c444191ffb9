import torch

from bough.model.int8 import quantised


def test_a_quantised_row_is_within_half_a_step() -> None:
    matrix = torch.randn(5, 7)
    rows = quantised(matrix)
    assert rows.codes.dtype == torch.int8
    assert bool(((rows.full() - matrix).abs() <= 0.5 * rows.scales[:, None] + 1e-7).all())


def test_zeros_stay_zeros() -> None:
    assert quantised(torch.zeros(2, 3)).full().abs().sum() == 0


def test_some_rows_are_those_of_the_whole_matrix() -> None:
    rows = quantised(torch.randn(5, 7))
    some = torch.tensor([[4, 0], [2, 2], [1, 3]])
    assert torch.equal(rows[some], rows.full()[some])
