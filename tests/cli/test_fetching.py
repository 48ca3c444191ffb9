"""Claims about `bough fetch`: local copies are taken over, and what cannot be had is one clear line."""

from pathlib import Path

import pytest

from cli_calls import bough

VECTOR = "elm " + " ".join(["0.25"] * 300) + "\n"


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "glove.6B.300d.txt").write_text(VECTOR)
    return tmp_path / "copies"


def fetch_glove(*arguments: str) -> str:
    """What is printed as an error, with nothing else."""
    refused = bough("fetch", "glove", *arguments)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    return refused.stderr


def test_copies_are_taken_over(copies: Path, tmp_path: Path) -> None:
    where = ("--from", str(copies), "--data", str(tmp_path / "out"))
    taken = bough("fetch", "glove", *where, "--vectors", "6B")
    assert taken.returncode == 0, taken.stderr
    assert taken.stdout == f"glove: 1 files in {tmp_path / 'out'}\n"
    assert (tmp_path / "out" / "glove" / "glove.6B.300d.txt").read_text() == VECTOR


def test_copies_that_are_not_whole_are_refused(copies: Path, tmp_path: Path) -> None:
    (copies / "glove.6B.300d.txt").write_text(VECTOR + "oak 0.5\n")
    where = ("--from", str(copies), "--data", str(tmp_path / "out"))
    assert "glove.6B.300d.txt:2: " in fetch_glove(*where, "--vectors", "6B")
    assert not (tmp_path / "out" / "glove").exists()


def test_an_empty_folder_has_nothing_to_take(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    fetch_glove("--from", str(tmp_path / "empty"), "--data", str(tmp_path / "out"))


def test_an_unknown_set_is_an_error(tmp_path: Path) -> None:
    assert "vectors '7B': '840B', '42B' or '6B'" in fetch_glove(
        "--vectors", "7B", "--data", str(tmp_path / "out")
    )
    assert not (tmp_path / "out").exists()
