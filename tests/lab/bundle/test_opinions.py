"""Everyday opinions: read whole, split so that no text is on both sides, and the sentences the project wrote itself."""

import csv
from collections import Counter
from pathlib import Path

import pytest

import bundle
from bough.data import DataError
from bough.errors import FormatError
from bundle.opinions import load_opinions

SPLITS = ("train", "dev", "test")
FOLDER = Path(bundle.__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "opinions").mkdir()
    titles = [f"Title {number}" for number in range(60)]
    lines = ["domain,rating,title,text"] + [
        f'books,{1 + n % 2},{t},"Text, {t}"' for n, t in enumerate(titles)
    ]
    lines += ["books,5,TITLE 7,Another text"]
    (tmp_path / "opinions" / "amazon.csv").write_text("\n".join(lines) + "\n")
    comments = "split,text,label\ntrain,[NAME] is great,positive\ndev,It rains,neutral\ntest,Ugh,negative\n"
    (tmp_path / "opinions" / "goemotions.csv").write_text(comments)
    return tmp_path


def test_no_title_is_in_two_splits_whatever_its_case(folder: Path) -> None:
    titles = {split: [o.text for o in load_opinions(folder, "titles", split)] for split in SPLITS}
    assert sum(map(len, titles.values())) == 61
    folded = [{title.lower() for title in titles[split]} for split in SPLITS]
    assert not folded[0] & folded[1] | folded[0] & folded[2] | folded[1] & folded[2]


def test_a_text_is_in_the_split_of_its_title(folder: Path) -> None:
    for split in SPLITS:
        titles = {o.text for o in load_opinions(folder, "titles", split)}
        texts = {o.text.removeprefix("Text, ") for o in load_opinions(folder, "reviews", split)}
        assert texts - {"Another text"} == titles - {"TITLE 7"}


def test_a_name_that_was_taken_out_reads_as_somebodys(folder: Path) -> None:
    assert load_opinions(folder, "goemotions", "train") == [("someone is great", "positive")]


def test_what_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(DataError, match="'titles'"):
        load_opinions(folder, "tweets", "train")
    (folder / "opinions" / "goemotions.csv").write_text("text,label\n")
    with pytest.raises(FormatError, match="no column 'split'"):
        load_opinions(folder, "goemotions", "train")


def test_the_everyday_sentences_are_many_and_of_every_kind() -> None:
    with (FOLDER / "everyday.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels, kinds = Counter(row["label"] for row in rows), Counter(row["kind"] for row in rows)
    assert len({row["text"] for row in rows}) == len(rows) >= 150
    assert min(labels[label] for label in ("negative", "neutral", "positive")) > 50
    assert {"review", "chat", "ticket", "negation", "contrast", "emoji", "emoticon", "typo", "fact"} <= set(
        kinds
    )


def test_no_sentence_that_measures_is_a_saying_that_trains() -> None:
    sayings = {o.text.lower().strip(" .!") for split in SPLITS for o in load_opinions(None, "sayings", split)}
    assert len(sayings) > 2000
    for name in ("everyday.csv", "blind_spots.csv"):
        with (FOLDER / name).open(encoding="utf-8", newline="") as file:
            assert not sayings & {row["text"].lower().strip(" .!") for row in csv.DictReader(file)}
