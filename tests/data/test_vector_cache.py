"""Claims about the cache of converted vectors: read once, never wrong, never in the way."""

from __future__ import annotations

import gzip
import logging
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.data import vector_cache as converted
from bough.data.glove import GloveFile
from bough.data.vector_cache import HEADER, Converted, convert
from bough.data.vectors import Vectors, first_vectors, load_vectors

TEXT = "the 1 2 3\nelm 4 5 6\nthe 7 8 9\n. . . 3 3 3\nash 0.5 -1.25 3e-05\n"
WORDS = ["elm", "zzz", "The", ". . .", "ash"]


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    path = tmp_path / "glove.9B.3d.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def same(one: Vectors, other: Vectors) -> bool:
    return (
        (one.name, one.words, one.cased) == (other.name, other.words, other.cased)
        and np.array_equal(one.rows, other.rows)
        and np.array_equal(one.found, other.found)
    )


def entries(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.vectors"))


def test_a_file_is_read_once_for_every_look_up(
    glove: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [load_vectors(glove, WORDS), load_vectors(glove, ["ash"]), first_vectors(glove, 2)]
    load_vectors(glove, ["the"], cache=cache)
    monkeypatch.setattr(GloveFile, "lines", lambda *_: pytest.fail("the file was read again"))
    answers = [
        load_vectors(glove, WORDS, cache=cache),
        load_vectors(glove, ["ash"], cache=cache),
        first_vectors(glove, 2, cache=cache),
    ]
    assert all(same(*pair) for pair in zip(expected, answers, strict=True))
    assert len(entries(cache)) == 1


@given(words=st.lists(st.text("abAB -\u00e9", min_size=1, max_size=3), min_size=1, max_size=30))
def test_every_word_is_found_by_its_first_line_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    words = [word for word in words if word.rstrip() == word] or ["a"]
    path = tmp_path_factory.mktemp("glove") / "own.2d.txt"
    path.write_text("".join(f"{word} {number}.5 -{number}\n" for number, word in enumerate(words)))
    with (path.parent / "entry").open("w+b") as file:
        convert(GloveFile(path), file)
    table = Converted((path.parent / "entry").read_bytes())
    asked = sorted({*words, "a", "b", "aB"})
    first = [words.index(word) if word in words else -1 for word in asked]
    assert table.find([word.encode() for word in asked]).tolist() == first
    assert [table.word(row).decode() for row in range(len(table))] == words
    assert table.take(range(len(table)))[:, 0].tolist() == [number + 0.5 for number in range(len(words))]


def test_words_of_one_hash_are_told_apart(glove: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_vectors(glove, WORDS)
    monkeypatch.setattr(converted, "_hash", lambda word: bytes(8))
    assert same(load_vectors(glove, WORDS, cache=cache), expected)


def test_another_file_is_never_answered_from_the_cache(glove: Path, cache: Path) -> None:
    load_vectors(glove, ["elm"], cache=cache)
    status = glove.stat()
    glove.write_text(TEXT.replace("elm 4", "elm 9"))  # same size, and the same time:
    os.utime(glove, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert load_vectors(glove, ["elm"], cache=cache).rows.tolist() == [[9, 5, 6]]
    os.utime(glove, ns=(1, 1))
    load_vectors(glove, ["elm"], cache=cache)
    assert len(entries(cache)) == 3


@pytest.mark.parametrize("place", [0, 9, HEADER + 12, -1, -40, "cut", "header only", "empty"])
def test_a_damaged_entry_is_made_again_with_a_warning(
    glove: Path, cache: Path, caplog: pytest.LogCaptureFixture, place: int | str
) -> None:
    good = load_vectors(glove, WORDS, cache=cache)
    (entry,) = entries(cache)
    content = bytearray(entry.read_bytes())
    if isinstance(place, int):
        content[place] ^= 1
    else:
        del content[{"cut": len(content) - 1, "header only": HEADER, "empty": 0}[place] :]
    entry.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert same(load_vectors(glove, WORDS, cache=cache), good)
    assert caplog.text.count("a damaged entry of the vector cache") == 1
    caplog.clear()
    assert same(load_vectors(glove, WORDS, cache=cache), good)
    assert caplog.text == ""


def test_a_conversion_that_is_killed_leaves_no_entry_and_its_remains_go_with_the_next(
    glove: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def stop(path: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # a kill leaves no time to tidy up
        patch.setattr("bough.files.os.fsync", stop)
        with pytest.raises(Killed):
            load_vectors(glove, ["elm"], cache=cache)
    assert not entries(cache)
    assert len(list(cache.iterdir())) == 2
    assert load_vectors(glove, ["elm"], cache=cache).rows.tolist() == [[4, 5, 6]]
    assert sorted(cache.iterdir()) == [*entries(cache), cache / "lock"]


@pytest.mark.parametrize("trouble", ["no folder", "full disk"])
def test_a_cache_that_cannot_be_written_is_only_a_warning(
    glove: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
) -> None:
    expected = load_vectors(glove, WORDS)
    cache = tmp_path / "cache"
    if trouble == "no folder":
        cache.write_text("a file, not a folder")
    else:

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("bough.files.os.fsync", full)
    assert same(load_vectors(glove, WORDS, cache=cache), expected)
    assert "the vector cache cannot be used" in caplog.text


@pytest.mark.parametrize("locks", [True, False])
def test_processes_that_convert_at_once_all_end_right(tmp_path: Path, cache: Path, locks: bool) -> None:
    path = tmp_path / "own.txt"
    path.write_text("".join(f"w{n} {n}.5 {n}\n" for n in range(2000)))
    program = (
        "import sys, pathlib\n"
        + ("" if locks else "sys.modules['fcntl'] = None\n")  # as on Windows
        + "from bough.data.vectors import load_vectors\n"
        "sys.stdin.read()\n"  # all begin at once
        "file, cache = map(pathlib.Path, sys.argv[1:])\n"
        "print(load_vectors(file, ['w1999'], cache=cache).rows.tolist())\n"
    )
    command = [sys.executable, "-c", program, str(path), str(cache)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    assert [process.communicate()[0] for process in running] == ["[[1999.5, 1999.0]]\n"] * 3
    assert len(entries(cache)) == 1


def test_a_conversion_holds_little_more_than_the_words(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "own.txt.gz"
    line = " ".join(["0.12345"] * 300)
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(10_000):  # 24 MB of text, 12 MB of rows
            file.write(f"w{number} {line}\n")
    load_vectors(path, ["w1"], cache=cache / "other")  # what is imported on the way does not count
    tracemalloc.start()
    load_vectors(path, ["w1", "w9999"], cache=cache)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_progress_and_the_log_tell_of_a_conversion_and_of_nothing_else(
    glove: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[tuple[int, int]] = []
    with caplog.at_level(logging.INFO):
        load_vectors(glove, ["elm"], cache=cache, progress=lambda *call: calls.append(call))
    assert calls[-1] == (len(TEXT), len(TEXT))
    assert "converting it" in caplog.text
    assert "converted in" in caplog.text
    calls.clear()
    load_vectors(glove, ["the"], cache=cache, progress=lambda *call: calls.append(call))
    assert calls == []
