"""Claims about the STS benchmark's splits."""

from pathlib import Path

import pytest

from bough.data import DataError
from bough.errors import FormatError
from bundle.sts import load_sts
from paper.sick import TEXTS

HEAD = "genre,source,year,score,a,b\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"main-news,x,2014,{n % 6},News {n} today.,Old news {n}." for n in range(100)]
    rows += [
        "main-captions,x,2012,5.0,A MAN sings!,A woman sings.",
        "main-captions,x,2012,4.0,A bird.,Two birds.",
    ]
    (tmp_path / "stsb").mkdir()
    (tmp_path / "stsb" / "train.csv").write_text(HEAD + "\n".join(rows) + "\n")
    (tmp_path / "stsb" / "dev.csv").write_text(HEAD + "main-forums,x,2015,2.5,Try it.,A man sings\n")
    (tmp_path / "sick").mkdir()
    heading = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    for split, (name, _) in TEXTS.items():
        text = "A man sings" if split == "test" else "Nothing"
        (tmp_path / "sick" / name).write_text(f"{heading}1\t{text}\tA dog\t3\tNEUTRAL\n")
    return tmp_path


def test_splits_share_no_pair_and_a_tenth_is_held_out(folder: Path) -> None:
    train, held = (load_sts(folder, split) for split in ("train", "dev"))
    assert len(train) + len(held) == 101
    assert 3 <= len(held) <= 20
    assert not {(pair.a, pair.b) for pair in train} & {(pair.a, pair.b) for pair in held}


def test_a_pair_with_a_sentence_of_sicks_dev_or_test_is_left_out(folder: Path) -> None:
    found = [pair for split in ("train", "dev") for pair in load_sts(folder, split)]
    assert [pair.a for pair in found if pair.genre == "captions"] == ["A bird."]
    assert len(load_sts(folder, "test")) == 1  # what is only measured stays whole


def test_ratings_are_on_sicks_scale(folder: Path) -> None:
    assert load_sts(folder, "test")[0].score == pytest.approx(3.0)
    assert {round(pair.score, 6) for pair in load_sts(folder, "train")} == {1, 1.8, 2.6, 3.4, 4.2, 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [(HEAD + "main-news,x,y,6,a,b\n", "row 1: score '6'"), ("genre,a,b\n", "no column 'score'")],
)
def test_what_is_wrong_is_said(folder: Path, text: str, message: str) -> None:
    (folder / "stsb" / "train.csv").write_text(text)
    with pytest.raises(FormatError, match=message):
        load_sts(folder, "train")
    with pytest.raises(ValueError, match="split 'all': 'train', 'dev' or 'test'"):
        load_sts(folder, "all")
    (folder / "stsb" / "dev.csv").unlink()
    with pytest.raises(DataError, match=r"stsb/dev\.csv: no such file"):
        load_sts(folder, "test")


def test_the_published_pairs(data: Path) -> None:
    counts = {split: len(load_sts(data, split)) for split in ("train", "dev", "test")}
    assert counts["test"] == 1_500
    assert counts["train"] + counts["dev"] == 5_749 - 470  # with a sentence of SICK's dev or test
