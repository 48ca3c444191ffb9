import pytest

from bough.formats.escapes import unescaped


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("-LRB-", "("),
        ("-RCB-", "}"),
        (r"and\/or", "and/or"),
        (r"\*\*\*", "***"),
        ("2\u00a01\\/2", "2\u00a01/2"),
        ("--", "--"),
        ("-lrb-", "-lrb-"),
        ("elm", "elm"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_escapes_are_undone_and_nothing_else(token: str, word: str) -> None:
    assert unescaped(token) == word
    assert unescaped(word) == word
