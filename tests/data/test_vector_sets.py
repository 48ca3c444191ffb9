"""Claims about the choice of a file of vectors, and about what is said of it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bough.data import DataError
from bough.data.vector_sets import Coverage, choose, coverage


@pytest.fixture
def lower(tmp_path: Path) -> Path:
    return written(tmp_path / "glove.9B.3d.txt", "the 1 2 3\nelm 4 5 6\n")


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_coverage_counts_types_and_tokens(lower: Path) -> None:
    known = coverage(lower, {"the": 90, "elm": 5, "zzz": 5})
    assert known == Coverage("glove.9B.3d", types=3, types_found=2, tokens=100, tokens_found=95)
    assert str(known) == "66.7% of 3 types, 95.0% of 100 tokens"
    assert coverage(lower, {}).share == 1


def test_of_a_completed_set_it_is_told_whose_the_rows_are(tmp_path: Path) -> None:
    completed = written(
        tmp_path / "glove.9B.3d.completed.txt", "the 1 2 3\nThe 1 2 3\nElm 7 8 9\nOak 5 5 5\nash 0.5 0 0\n"
    )
    counts = {"the": 50, "The": 20, "Elm": 10, "Oak": 8, "ash": 7, "zzz": 5}
    assert coverage(completed, counts).exact is None
    assert str(coverage(completed, counts)) == "83.3% of 6 types, 95.0% of 100 tokens"
    written(tmp_path / "glove.9B.3d.txt", "the 1 2 3\nElm 7 8 9\nelm 1 1 1\noak 4 4 4\nzzz 0 0 0\n")
    assert str(coverage(completed, counts)) == (
        "83.3% of 6 types, 95.0% of 100 tokens (60.0% exact, 20.0% by the lower-case form, 15.0% estimated)"
    )
    assert coverage(completed, {}).share == 1
    assert str(coverage(completed, {})) == "100.0% of 0 types, 100.0% of 0 tokens"


@pytest.fixture
def both(tmp_path: Path) -> Path:
    line = " ".join(["0.5"] * 300)
    written(tmp_path / "glove" / "glove.840B.300d.txt", f"The {line}\nthe {line}\n")
    written(tmp_path / "glove" / "glove.6B.300d.txt", f"the {line}\nelm {line}\n")
    return tmp_path


@pytest.mark.parametrize(("rare", "chosen"), [(0, "840B"), (5, "840B"), (6, "6B"), (100, "6B")])
def test_auto_takes_840b_from_95_percent_of_the_tokens(
    both: Path, caplog: pytest.LogCaptureFixture, rare: int, chosen: str
) -> None:
    with caplog.at_level(logging.INFO):
        path = choose(both, {"the": 100 - rare, "elm": rare} if rare else {"the": 1})
    assert path.name == f"glove.{chosen}.300d.txt"
    assert path.name in caplog.text


@pytest.mark.parametrize(
    ("rare", "unheard", "chosen"),
    [(5, 0, "840B.300d"), (6, 0, "840B.300d.completed"), (50, 5, "840B.300d.completed"), (50, 6, "6B.300d")],
)
def test_auto_takes_the_completed_840b_where_the_plain_one_has_too_little(
    both: Path, rare: int, unheard: int, chosen: str
) -> None:
    line = " ".join(["0.5"] * 300)
    written(both / "glove" / "glove.840B.300d.completed.txt", f"The {line}\nthe {line}\nelm {line}\n")
    counts = {"the": 100 - rare - unheard, "elm": rare, "zzz": unheard}
    assert choose(both, counts).name == f"glove.{chosen}.txt"


def test_the_completed_840b_is_taken_by_name(both: Path) -> None:
    with pytest.raises(DataError, match=r"no glove\.840B\.300d\.completed; name a file of vectors"):
        choose(both, {}, "840B-completed")
    path = written(both / "glove" / "glove.840B.300d.completed.txt", "")
    assert choose(both, {}, "840B-completed") == path


def test_auto_without_840b_is_6b(both: Path) -> None:
    (both / "glove" / "glove.840B.300d.txt").unlink()
    assert choose(both, {"the": 1}).name == "glove.6B.300d.txt"


def test_auto_with_too_small_an_840b_alone_says_the_ways_out(both: Path) -> None:
    (both / "glove" / "glove.6B.300d.txt").unlink()
    with pytest.raises(
        DataError, match=r"50\.0% of 2 tokens, 95% wanted.*bough fetch glove.*set vectors to 840B"
    ):
        choose(both, {"the": 1, "elm": 1})


def test_auto_without_any_says_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"neither glove\.840B\.300d nor glove\.6B\.300d; run `bough fetch glove`"
    ):
        choose(tmp_path, {"the": 1})


def test_a_name_or_a_path_is_taken_as_it_is(both: Path, lower: Path) -> None:
    assert choose(both, {"elm": 1}, "840B").name == "glove.840B.300d.txt"
    assert choose(both, {"elm": 1}, lower) == lower
    assert choose(both, {"elm": 1}, str(lower)) == lower
    (both / "glove" / "glove.42B.300d.zip").touch()
    assert choose(both, {}, "42B").name == "glove.42B.300d.zip"


def test_a_name_or_a_path_that_is_not_there_is_an_error(both: Path) -> None:
    with pytest.raises(DataError, match=r"no glove\.42B\.300d; run `bough fetch glove`"):
        choose(both, {}, "42B")
    with pytest.raises(
        DataError, match=r"vectors '7B': no such file, nor 'auto', '840B', '840B-completed', '42B', '6B'"
    ):
        choose(both, {}, "7B")
