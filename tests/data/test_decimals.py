"""Claims about the fast way to read numbers: the very numbers that `float` reads, or no answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.data.decimals import plain_decimals

DECIMAL = st.from_regex(r"-?(?:[0-9]{1,6}\.[0-9]{0,4}|\.[0-9]{1,10})", fullmatch=True)


@given(st.lists(DECIMAL, min_size=1))
def test_plain_decimals_are_what_float_gives(texts: list[str]) -> None:
    values = plain_decimals(" ".join(texts).encode())
    assert values is not None
    assert values.tobytes() == np.array([float(text) for text in texts]).tobytes()  # -0.0 is not 0.0


@given(st.text("0123456789.- e", max_size=20))
def test_what_is_read_is_read_as_float_reads_it(text: str) -> None:
    values = plain_decimals(text.encode())
    if values is not None:
        assert values.tolist() == [float(field) for field in text.split(" ")]


@pytest.mark.parametrize("field", ["1", "1.5x", "0.1.2", "1,5", "0x1.8", "1.5e-5", "nan", "-", ".", "--1.5"])
def test_anything_else_is_left_to_float(field: str) -> None:
    assert plain_decimals(f"0.5 {field} 0.5".encode()) is None


@pytest.mark.parametrize("field", ["1.-5", "+1.5", "1_0.5", "1.\t5", "12345678.901"])
def test_so_is_what_float_might_read_in_another_way(field: str) -> None:
    assert plain_decimals(f"0.5 {field} 0.5".encode()) is None


def test_two_spaces_are_no_plain_text() -> None:
    assert plain_decimals(b"0.5  0.5") is None
    assert plain_decimals(b"") is None
