"""Claims about `python -m paper prepare`: it writes what training reads, and what is wrong is one line."""

from pathlib import Path

import pytest

import minidata
from lab_calls import lab, refused
from paper.sick import load_sick
from paper.sst import load_sst


def test_prepare_writes_what_training_reads(tmp_path: Path) -> None:
    raw, out = minidata.make(tmp_path / "raw", sentences=12), tmp_path / "out"
    for split in ("train", "dev", "test"):
        for file in (raw / "sst" / "dep" / split).iterdir():
            file.unlink()
    made = lab("paper", "prepare", "sst", "--data", str(raw), "--out", str(out))
    assert made.returncode == 0, made.stderr
    assert len(load_sst(out, "train", parse="dependency", check=False)) == 12
    heading = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"):
        (raw / "sick" / name).write_text(heading + "3\tA cat isn't here\tNo cat\t4.2\tNEUTRAL\r\n")
    assert lab("paper", "prepare", "sick", "--data", str(raw), "--out", str(out)).returncode == 0
    for parse in ("dependency", "constituency"):
        (pair,) = load_sick(out, "test", parse=parse, check=False)
        assert (pair.id, pair.score) == ("3", 4.2)
        assert pair.left.tokens is not None
        assert [token for token in pair.left.tokens if token] == ["A", "cat", "is", "n't", "here"]
    again = refused("paper", "prepare", "sick", "--data", str(raw), "--out", str(out))
    assert "already exists" in again


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sst", "--data", "/no/such/folder"), "/no/such/folder"),
        (("sst", "--only", "constituency", "--data", "/no/such/folder"), "--only is for sick"),
        (("sick", "--parser", "nope"), "no parser 'nope'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused("paper", "prepare", *arguments)
