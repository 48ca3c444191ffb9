from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bough.data import DataError, find_data, user_cache
from bough.data.paths import check_count, choose_from, require


def test_a_given_folder_comes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, in_environment = tmp_path / "named", tmp_path / "environment"
    named.mkdir()
    in_environment.mkdir()
    monkeypatch.setenv("BOUGH_DATA", str(in_environment))
    assert find_data(named) == named
    assert find_data(str(named)) == named
    assert find_data() == in_environment


def test_without_either_it_is_the_user_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOUGH_DATA", raising=False)
    assert find_data() == user_cache()
    assert user_cache().name == "bough"


def test_a_named_folder_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "nowhere"
    with pytest.raises(DataError, match=rf"the data folder {missing}: no such folder"):
        find_data(missing)
    monkeypatch.setenv("BOUGH_DATA", str(missing))
    with pytest.raises(DataError, match=rf"BOUGH_DATA {missing}: no such folder"):
        find_data()


def test_a_missing_file_is_named_with_the_ways_out(tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    require([tmp_path / "here"], "sst")
    with pytest.raises(DataError) as caught:
        require([tmp_path / "here", tmp_path / "gone"], "sst")
    message = str(caught.value)
    assert "\n" not in message
    for part in (str(tmp_path / "gone"), "python -m paper fetch sst", "BOUGH_DATA"):
        assert part in message


def test_a_wrong_count_names_both_numbers(tmp_path: Path) -> None:
    check_count(tmp_path, 8544, 8544, "sentences")
    with pytest.raises(DataError, match=r"8,543 sentences, expected 8,544"):
        check_count(tmp_path, 8543, 8544, "sentences")


def test_a_choice_lists_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"split 'valid': 'train', 'dev' or 'test'"):
        choose_from("split", "valid", ("train", "dev", "test"))


def test_importing_the_data_sets_does_not_load_pooch() -> None:
    code = "import sys, bough.data.vectors, bough.data.fetch; sys.exit('pooch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
