"""Claims about the filter of training texts: no text of the set is missed, and hardly another is taken for one."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bough.data.text_filter import BITS, FILE, TextFilter
from bough.errors import FormatError
from bough.files import write_tensors

TEXTS = [f"Text {number} of the set ." for number in range(2000)]


@given(st.lists(st.text(min_size=1).filter(str.strip)))
def test_every_text_of_the_set_is_in_its_filter(texts: list[str]) -> None:
    assert TextFilter.of(texts).contains(texts).all()


def test_case_and_white_space_do_not_matter() -> None:
    trained_on = TextFilter.of(TEXTS)
    assert trained_on.contains(["TEXT 7 of the set.", " text\u00a07\tof the\nset ."]).all()


def test_fewer_than_one_in_ten_thousand_other_texts_is_taken_for_one_of_the_set() -> None:
    trained_on = TextFilter.of(TEXTS)
    assert len(trained_on.bits) <= BITS * len(TEXTS) / 8 + 1
    assert trained_on.contains(f"text {number} of others" for number in range(100_000)).sum() < 10


def test_a_text_without_characters_is_in_no_set() -> None:
    assert not TextFilter.of(["", " ", "a"]).contains(["", "\n"]).any()
    assert not TextFilter.of([]).contains(["a"]).any()


def test_a_folder_keeps_its_filter(tmp_path: Path) -> None:
    assert TextFilter.load(tmp_path) is None
    trained_on = TextFilter.of(TEXTS)
    trained_on.save(tmp_path)
    stored = TextFilter.load(tmp_path)
    assert stored is not None
    assert stored.bits.tobytes() == trained_on.bits.tobytes()


def test_a_file_of_other_tensors_is_an_error(tmp_path: Path) -> None:
    write_tensors(tmp_path / FILE, {"bloom_filter": torch.zeros(3)})
    with pytest.raises(FormatError, match=rf"{FILE}: no tensor 'bloom_filter' of bytes"):
        TextFilter.load(tmp_path)
