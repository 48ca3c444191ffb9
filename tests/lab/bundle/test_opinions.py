"""Everyday opinions: read whole, names set aside, and the sentences that the project wrote itself."""

import csv
from collections import Counter
from pathlib import Path

import pytest

import bundle
from bough.errors import FormatError
from bough.formats import ptb
from bough.text import get_parser
from bundle.opinions import SOURCES, load_opinions, prepare_opinions

FOLDER = Path(bundle.__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "opinions").mkdir()
    rows = "split,text,label\ntrain,[NAME] is great,positive\ndev,It rains,neutral\ntest,Ugh,negative\n"
    for source in SOURCES:
        (tmp_path / "opinions" / f"{source}.csv").write_text(rows)
    return tmp_path


def test_a_name_that_was_taken_out_is_set_aside_before_parsing(folder: Path) -> None:
    assert load_opinions(folder, "goemotions", "train") == [("@name is great", "positive")]
    files = prepare_opinions(get_parser("balanced"), folder)
    (tree,) = ptb.iterate(folder / "extra" / "xed" / "train.txt")
    assert [token for token in tree.tokens or () if token] == ["is", "great"]
    assert (tree.labels or ())[tree.root] == "3|4"
    assert len(files) == 9


def test_what_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(ValueError, match="'goemotions', 'xed' or 'newsmtsc'"):
        load_opinions(folder, "tweets", "train")
    (folder / "opinions" / "goemotions.csv").write_text("text,label\n")
    with pytest.raises(FormatError, match="no column 'split'"):
        load_opinions(folder, "goemotions", "train")


def test_the_everyday_sentences_are_many_and_of_every_kind() -> None:
    with (FOLDER / "everyday.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels, kinds = Counter(row["label"] for row in rows), Counter(row["kind"] for row in rows)
    assert len({row["text"] for row in rows}) == len(rows) == 200
    assert min(labels[label] for label in ("negative", "neutral", "positive")) > 50
    assert min(kinds.values()) > 5
