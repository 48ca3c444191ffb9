"""Claims about `python -m paper prepare`: what is wrong is one line."""

from pathlib import Path

import pytest

from lab_calls import refused

EMPTY = "an empty folder"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sst", "--data", "/no/such/folder"), "/no/such/folder"),
        (("sick", "--data", EMPTY), "SICK_train.txt: no such file; run `python -m paper fetch sick`"),
        (("sst", "--data", EMPTY), "train.txt: no such file; run `python -m paper fetch sst`"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    given = [str(tmp_path) if word == EMPTY else word for word in arguments]
    assert message in refused("paper", "prepare", *given)


def test_an_unknown_parser_is_told_before_the_download(tmp_path: Path) -> None:
    where = ("--data", str(tmp_path / "data"), "--parser", "nope")
    assert "no parser 'nope'" in refused("paper", "fetch", *where)
