from __future__ import annotations

from pathlib import Path

import pytest

from bough.data import DataError
from bough.errors import FormatError
from bough.trees.tree import Tree
from paper.sick import load_sick, sick_files


def sentence(tree: Tree) -> str:
    assert tree.tokens is not None
    return " ".join(str(tree.tokens[node]) for node in tree.words)


@pytest.mark.parametrize("parse", ["dependency", "constituency"])
def test_pairs_have_two_trees_a_score_and_an_id(few: Path, parse: str) -> None:
    pairs = load_sick(few, "train", parse=parse, check=False)  # type: ignore[arg-type]
    assert [(pair.id, pair.score) for pair in pairs] == [("11", 4.6), ("12", 2.0)]
    assert [sentence(pair.left) for pair in pairs] == ["A cat naps", "Two owls"]
    assert [sentence(pair.right) for pair in pairs] == ["The cat sleeps", "An owl hoots"]


def test_the_parse_says_which_trees(few: Path) -> None:
    words = load_sick(few, "dev", check=False)[0].left
    phrases = load_sick(few, "dev", parse="constituency", check=False)[0].left
    assert words.relations == ("det", "nsubj", "root")
    assert words.parents.tolist() == [1, 2, -1]
    assert (len(phrases), len(phrases.leaves)) == (5, 3)
    assert phrases.relations is None


def test_a_wrong_count_is_an_error_with_both_numbers(few: Path) -> None:
    with pytest.raises(DataError, match=r"2 pairs, expected 4,927"):
        load_sick(few, "test")


@pytest.mark.parametrize("parse", ["dependency", "constituency"])
def test_a_missing_file_is_named(few: Path, parse: str) -> None:
    for path in sick_files(few, "dev", parse):  # type: ignore[arg-type]
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(
            DataError, match=rf"{path}: no such file; .*python -m paper fetch sick.*BOUGH_DATA"
        ):
            load_sick(few, "dev", parse=parse, check=False)  # type: ignore[arg-type]
        path.write_bytes(content)


@pytest.mark.parametrize("name", ["sim.txt", "id.txt"])
def test_files_of_different_lengths_are_an_error(few: Path, name: str) -> None:
    path = few / "sick" / "train" / name
    path.write_text(path.read_text() + "3\n")
    with pytest.raises(DataError, match=rf"{name}: 3 lines, .*a\.parents has 2"):
        load_sick(few, "train", check=False)


def test_one_more_right_sentence_is_an_error(few: Path) -> None:
    for name, line in (("b.toks", "Oh no"), ("b.parents", "2 0"), ("b.rels", "dep root")):
        path = few / "sick" / "train" / name
        path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=r"b\.parents: 3 lines, .*a\.parents has 2"):
        load_sick(few, "train", check=False)


@pytest.mark.parametrize("score", ["0.9", "5.1", "nan", "high", ""])
def test_a_score_outside_one_to_five_is_an_error_with_its_line(few: Path, score: str) -> None:
    (few / "sick" / "train" / "sim.txt").write_text(f"1\n{score}\n")
    with pytest.raises(FormatError, match=rf"sim\.txt:2: score '{score}'"):
        load_sick(few, "train", check=False)


def test_scores_of_ones_own_may_go_further(few: Path) -> None:
    (few / "sick" / "train" / "sim.txt").write_text("1\n6.5\n")
    assert [pair.score for pair in load_sick(few, "train", check=False, scale=7)] == [1.0, 6.5]
    with pytest.raises(FormatError, match="a number from 1 to 6"):
        load_sick(few, "train", check=False, scale=6)


@pytest.mark.parametrize(("name", "value"), [("split", "trial"), ("parse", "chart")])
def test_unknown_choices_are_an_error(few: Path, name: str, value: str) -> None:
    choices = {"split": "train", "parse": "dependency", name: value}
    with pytest.raises(ValueError, match=rf"{name} '{value}': '"):
        load_sick(few, check=False, **choices)  # type: ignore[arg-type]


def test_the_real_pairs_hold_what_is_known(data: Path) -> None:
    for split, count in (("train", 4500), ("dev", 500), ("test", 4927)):
        words = load_sick(data, split)
        phrases = load_sick(data, split, parse="constituency")
        assert len(words) == len(phrases) == count
        for one, other in zip(words, phrases, strict=True):
            assert (one.id, one.score) == (other.id, other.score)
            assert sentence(one.left) == sentence(other.left)
            assert sentence(one.right) == sentence(other.right)
