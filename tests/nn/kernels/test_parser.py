"""The compiled LSTM equals torch's."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from bough.nn.kernels import parser
from bough.nn.kernels.parser import lstm_forward
from kernel_cases import every_isa, needs_c, on

pytestmark = needs_c


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")


def of(lengths: list[int], inputs: int) -> PackedSequence:
    return pack_sequence([torch.randn(length, inputs) for length in sorted(lengths, reverse=True)])


def assert_same(layer: nn.LSTM, x: PackedSequence) -> None:
    with torch.no_grad():
        found = lstm_forward(layer, x.data, x.batch_sizes)
        wanted = layer(x)[0].data
    assert found is not None
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


@every_isa
@settings(deadline=None)  # the first call loads the library
@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=20),
    inputs=st.integers(1, 40),
    hidden=st.integers(1, 40),
    chunk=st.sampled_from([1, 10, 128]),
)
def test_any_lengths(lengths: list[int], inputs: int, hidden: int, chunk: int, isa: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        on(isa, patch)
        patch.setattr(parser, "CHUNK", chunk)
        assert_same(nn.LSTM(inputs, hidden, bidirectional=True), of(lengths, inputs))


@every_isa
def test_inputs_that_occur_often_are_given_once(isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on(isa, monkeypatch)
    layer, x = nn.LSTM(5, 19, bidirectional=True).requires_grad_(False), torch.randn(3, 5)
    for lengths in ([1], [9, 9, 4, 1], [40] * 8):
        which = pack_sequence([torch.randint(0, 3, (length,)) for length in lengths])
        found = lstm_forward(layer, x, which.batch_sizes, which.data)
        wanted = lstm_forward(layer, x[which.data], which.batch_sizes)
        assert found is not None
        assert wanted is not None
        assert torch.equal(found, wanted)


def test_nothing_in_gives_nothing() -> None:
    layer = nn.LSTM(3, 4, bidirectional=True).requires_grad_(False)
    for sizes in ([], [0, 0]):
        found = lstm_forward(layer, torch.empty(0, 3), torch.tensor(sizes, dtype=torch.int64))
        assert found is not None
        assert found.shape == (0, 8)


def test_a_change_of_a_weight_is_seen() -> None:
    layer, x = nn.LSTM(3, 4, bidirectional=True), of([5, 2], 3)
    assert_same(layer, x)
    with torch.no_grad():
        layer.get_parameter("weight_hh_l0_reverse").mul_(2)
    assert_same(layer, x)
    layer.bias_ih_l0 = nn.Parameter(torch.ones(16))
    assert_same(layer, x)
    with torch.inference_mode():
        layer.weight_ih_l0 = nn.Parameter(torch.ones(16, 3))
        assert_same(layer, x)
        layer.weight_ih_l0.mul_(0.1)
        assert_same(layer, x)


def test_a_nan_stays_in_its_sequence() -> None:
    layer, x = nn.LSTM(3, 4, bidirectional=True).requires_grad_(False), of([3, 3], 3)
    x.data[2, 0] = torch.nan  # the second step of the first
    found = lstm_forward(layer, x.data, x.batch_sizes)
    assert found is not None
    forwards, backwards = found.isnan().reshape(3, 2, 2, 4).all(dim=3).unbind(dim=2)
    assert forwards.tolist() == [[False, False], [True, False], [True, False]]
    assert backwards.tolist() == [[True, False], [True, False], [False, False]]
    assert not found[1::2].isnan().any()


def taken(layer: nn.LSTM, x: Tensor) -> bool:
    return lstm_forward(layer, x, torch.tensor([2, 1])) is not None


def test_what_it_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x = nn.LSTM(3, 4, bidirectional=True), torch.randn(3, 3)
    assert not taken(layer, x)  # a gradient may be asked for
    with torch.no_grad():
        assert taken(layer, x)
        assert not taken(layer, torch.randn(3, 2))  # torch says what is wrong
        assert not taken(layer, torch.randn(4, 3))
        with torch.autocast("cpu"):
            assert not taken(layer, x)
        for other in (
            nn.LSTM(3, 4),
            nn.LSTM(3, 4, bidirectional=True, bias=False),
            nn.LSTM(3, 4, 2, bidirectional=True),
            nn.LSTM(3, 4, bidirectional=True, proj_size=2),
        ):
            assert not taken(other, x)
        assert not taken(nn.LSTM(3, 4, bidirectional=True).double(), x.double())
        monkeypatch.setenv("BOUGH_FAST", "0")
        assert not taken(layer, x)


@pytest.mark.parametrize("name", ["weight_ih_l0", "weight_hh_l0_reverse", "bias_ih_l0", "bias_hh_l0_reverse"])
def test_a_weight_of_another_shape_is_named(name: str) -> None:
    layer, x = nn.LSTM(3, 20, bidirectional=True).requires_grad_(False), of([5, 2], 3)
    setattr(layer, name, nn.Parameter(getattr(layer, name)[:-4], requires_grad=False))
    with pytest.raises(ValueError, match=rf"{name} of the LSTM is \(76.*; it must be \(80"):
        lstm_forward(layer, x.data, x.batch_sizes)


@pytest.mark.parametrize(
    ("sizes", "rows", "message"),
    [
        ([2, 1], [0, 3, 1], "input_of has 0 to 3; it must be from 0 to 2"),
        ([2, 1], [-1, 0, 1], "input_of has -1 to 1"),
        ([4, -1], [0, 0, 0], "sizes has -1 to 4; it must be from 0 to 3"),
        ([1, 2], [0, 0, 0], "sizes .* rise"),
    ],
)
def test_an_index_outside_of_the_rows_is_an_error(sizes: list[int], rows: list[int], message: str) -> None:
    layer = nn.LSTM(3, 4, bidirectional=True).requires_grad_(False)
    with pytest.raises(ValueError, match=message):
        lstm_forward(layer, torch.randn(3, 3), torch.tensor(sizes), torch.tensor(rows))
