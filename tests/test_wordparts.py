"""Claims about guesses: parts before stems, nothing too short, and the word itself never."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.wordparts import SHORTEST, guesses


@pytest.mark.parametrize(
    ("word", "group"),
    [
        ("well-acted", ("well", "acted")),
        ("and/or", ("and", "or")),
        ("1950s", ("0000s",)),
        ("42", ("0",)),
        ("movies", ("movie",)),
        ("happiest", ("happy",)),
        ("stopping", ("stop",)),
        ("Making", ("make",)),
        ("unfunny", ("funny",)),
    ],
)
def test_a_good_guess_is_among_them(word: str, group: tuple[str, ...]) -> None:
    assert group in list(guesses(word))


def test_parts_come_before_stems() -> None:
    order = list(guesses("heart-warmingly"))
    assert order.index(("heart", "warmingly")) < order.index(("heart-warming",))


@given(st.text(st.characters(categories=["L"]), max_size=12))
def test_the_guesses_of_a_word_of_letters_are_stems_of_it(word: str) -> None:
    for group in guesses(word):
        assert len(group) == 1
        assert SHORTEST <= len(group[0]) <= len(word)
        assert group[0] != word
