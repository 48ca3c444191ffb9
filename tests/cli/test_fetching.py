"""Claims about `bough fetch`: local copies are taken over, and what cannot be had is one clear line."""

import shutil
from pathlib import Path

from cli_calls import bough


def test_copies_of_the_real_data_are_taken_over(data: Path, tmp_path: Path) -> None:
    taken = bough("fetch", "sst", "sick", "--from", str(data), "--data", str(tmp_path))
    assert taken.returncode == 0, taken.stderr
    assert (tmp_path / "sst" / "trees" / "train.txt").read_bytes() == (
        data / "sst/trees/train.txt"
    ).read_bytes()
    assert (tmp_path / "sick" / "train" / "sim.txt").exists()


def test_copies_that_are_not_whole_are_refused(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "sst", tmp_path / "copy" / "sst", copy_function=shutil.copyfile)
    torn = tmp_path / "copy" / "sst" / "trees" / "dev.txt"
    torn.write_bytes(torn.read_bytes()[:1000])
    refused = bough("fetch", "sst", "--from", str(tmp_path / "copy"), "--data", str(tmp_path / "out"))
    assert refused.returncode == 2
    assert "dev.txt" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "out" / "sst").exists()


def test_an_empty_folder_has_nothing_to_take(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused = bough("fetch", "sst", "--from", str(tmp_path / "empty"), "--data", str(tmp_path / "out"))
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
