"""What a fit says about doubtful data, and how it reads the splits of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.data.examples import Columns, labelled_lists
from bough.data.labelled import open_labelled
from bough.errors import DataError
from bough.outputs.base import TargetOptions
from bough.train.splits import Splits, read_splits


def splits_of(
    tmp_path: Path, rows: list[str], header: str = "text,label,split", *, hold_test: bool = True
) -> Splits:
    path = tmp_path / "a.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return read_splits({"train": open_labelled(path)}, TargetOptions(), hold_test=hold_test, seed=1)


def test_a_column_of_splits_is_used_and_said(tmp_path: Path) -> None:
    names = ["train"] * 20 + ["validation"] * 6 + ["Test"] * 4
    rows = [f"text {i},{'ab'[i % 2]},{name}" for i, name in enumerate(names)]
    splits = splits_of(tmp_path, rows)
    assert splits.sizes == {"train": 20, "dev": 6, "test": 4}
    assert "splits by the column of the file: train 20, dev 6, test 4" in splits.messages
    assert splits.digest != splits_of(tmp_path, [row.replace("Test", "dev") for row in rows]).digest


def test_what_the_column_lacks_is_held_out_of_train(tmp_path: Path) -> None:
    rows = [f"text {i},{'ab'[i % 2]},{'train' if i < 20 else 'test'}" for i in range(24)]
    splits = splits_of(tmp_path, rows)
    assert splits.sizes == {"train": 18, "dev": 2, "test": 4}
    assert splits.assigned[20:].tolist() == [2] * 4


def test_a_column_of_something_else_is_not_used(tmp_path: Path) -> None:
    rows = [f"text {i},{'ab'[i % 2]},{'train' if i else 'fold 1'}" for i in range(40)]
    splits = splits_of(tmp_path, rows)
    assert any(
        "a.csv:2: the column of splits is not used: 'fold 1' is not train" in m for m in splits.messages
    )
    assert splits.sizes == {"train": 32, "dev": 4, "test": 4}


def test_examples_of_test_that_are_in_train_too_are_said(tmp_path: Path) -> None:
    rows = [f"text {i % 20},{'ab'[i % 2]},{'train' if i < 20 else 'test'}" for i in range(23)]
    found = f"{tmp_path / 'a.csv'}:22: 3 examples are in train too; figures on test are too good"
    assert found in splits_of(tmp_path, rows).messages


def test_texts_that_differ_in_white_space_alone_are_equal(tmp_path: Path) -> None:
    rows = [f"line {i} is over.,{'ab'[i % 2]},train" for i in range(20)] + ["line 3 is over .,a,test"] * 2
    found = f"{tmp_path / 'a.csv'}:22: 2 examples are in train too; figures on test are too good"
    assert found in splits_of(tmp_path, rows).messages


def test_each_doubt_about_the_labels_is_one_line(tmp_path: Path) -> None:
    rows = [f"text {i},{'LOC' if i % 2 else 'HUM'}" for i in range(30)]
    rows += [
        "text 30,loc",
        "text 31,l oc",
        "text 1,LOC",
        "text 2,LOC",
        "text 3,LOC",
        "rare one,NUM",
        "rare two,NUM",
    ]
    splits = splits_of(tmp_path, rows, "text,label")
    where = tmp_path / "a.csv"
    assert (
        "the labels 'LOC' (18) and 'loc' (1) and 'l oc' (1) differ in case or spaces only; they are different classes"
        in splits.messages
    )
    assert (
        f"{where}:34: 3 examples repeat an earlier one; what occurs twice is never held out"
        in splits.messages
    )
    assert (
        f"{where}:35: 1 example has another label than an equal one ('LOC' here, 'HUM' at {where}:4)"
        in splits.messages
    )
    assert "1 class has no test example: 'NUM'" in splits.messages


def test_an_error_for_examples_that_all_repeat_names_the_repeats() -> None:
    def refused(texts: list[str]) -> str:
        with pytest.raises(DataError) as refusal:
            read_splits(
                {"train": labelled_lists(texts, ["a", "b"] * (len(texts) // 2))},
                TargetOptions(),
                hold_test=False,
                seed=1,
            )
        return str(refusal.value)

    assert refused([f"text {n % 2}" for n in range(80)]) == (
        "texts: 80 of 80 examples are repeats, which are never held out; give a dev split"
    )
    assert refused(["one", "one", "two", "two", "two", "six"]).startswith(
        "texts: 5 of 6 examples are repeats"
    )


def test_clean_data_is_not_commented_on() -> None:
    texts = [f"text {i}" for i in range(60)]
    splits = read_splits(
        {"train": labelled_lists(texts, ["a", "b"] * 30)}, TargetOptions(), hold_test=True, seed=1
    )
    assert [message.partition(":")[0] for message in splits.messages] == ["dev", "test"]


def test_columns_with_odd_names_are_found(tmp_path: Path) -> None:
    def columns(header: str, row: str = "a long text of words,short") -> Columns:
        path = tmp_path / "b.csv"
        path.write_text(f"{header}\n{row}\n")
        return open_labelled(path).columns

    assert columns("Ticket,Team") == Columns(("Ticket",), "Team")
    assert columns("Team,Ticket", "short,a long text of words") == Columns(("Ticket",), "Team")
    assert columns("tweet,polarity") == Columns(("tweet",), "polarity")
    assert columns("id,wording,category,split", "1,a b,c,train") == Columns(
        ("wording",), "category", split="split"
    )
    assert columns("review,verdict") == Columns(("review",), "verdict")
