from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bough.data import fingerprint
from bough.data.checksums import END, ends_digest


def test_a_small_file_is_its_sha256(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"elm\n")
    assert fingerprint([path], data=tmp_path) == {
        "words.txt": "sha256:" + hashlib.sha256(b"elm\n").hexdigest()
    }


def test_a_folder_stands_for_its_files_and_keys_do_not_depend_on_where_it_lies(tmp_path: Path) -> None:
    prints = []
    for name in ("one", "two"):
        (tmp_path / name / "sst" / "dep").mkdir(parents=True)
        (tmp_path / name / "sst" / "dep" / "b").write_text("b")
        (tmp_path / name / "sst" / "a").write_text("a")
        prints.append(fingerprint([tmp_path / name / "sst"], data=tmp_path / name))
    assert prints[0] == prints[1]
    assert list(prints[0]) == ["sst/a", "sst/dep/b"]


def test_a_file_outside_the_data_keeps_its_path(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("x")
    assert list(fingerprint([path], data=tmp_path / "data")) == [path.as_posix()]


def test_a_large_file_is_known_by_its_size_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.data.checksums.WHOLE", 10)
    path = tmp_path / "large"
    path.write_bytes(b"elm" * 1000)
    before = fingerprint([path])[path.as_posix()]
    assert before.startswith("ends:3000:")
    path.write_bytes(b"elm" * 999 + b"oak")
    assert fingerprint([path])[path.as_posix()] != before


@pytest.mark.parametrize("size", [0, 1, END - 1, END, END + 1, 2 * END, 2 * END + 1])
def test_every_byte_at_the_ends_counts_once(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    content = bytes(index % 251 for index in range(size))
    path.write_bytes(content)
    seen = content if size <= 2 * END else content[:END] + content[-END:]
    assert ends_digest(path) == hashlib.sha256(seen).hexdigest()
