from __future__ import annotations

import gzip
import logging
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.data import DataError
from bough.data.vectors import (
    Vectors,
    embedding_rows,
    first_vectors,
    load_vectors,
    random_rows,
    read_vectors,
)
from bough.errors import FormatError
from web_server import zipped

LOWER = "the 1 2 3\nelm 4 5 6\nthe 7 8 9\n( 1 1 1\nand/or 2 2 2\n. . . 3 3 3\nil 0 0 1\n"
CASED = "the 1 2 3\nThe 4 5 6\nelm 7 8 9\nElm 0 1 0\n"


@pytest.fixture
def lower(tmp_path: Path) -> Path:
    return written(tmp_path / "glove.9B.3d.txt", LOWER)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


# ---------------------------------------------------------------------- look-up


def test_rows_follow_the_words_and_the_first_duplicate_counts(lower: Path) -> None:
    vectors = load_vectors(lower, ["elm", "zzz", "the", ". . ."])
    assert (vectors.name, vectors.dim, vectors.cased) == ("glove.9B.3d", 3, False)
    assert vectors.words == ("elm", "zzz", "the", ". . .")
    assert vectors.rows.dtype == np.float32
    assert vectors.rows.tolist() == [[4, 5, 6], [0, 0, 0], [1, 2, 3], [3, 3, 3]]
    assert vectors.found.tolist() == [True, False, True, True]


def test_a_lower_case_set_gives_the_lower_cased_form(lower: Path) -> None:
    vectors = load_vectors(lower, ["The", "ELM", "Zzz"])
    assert vectors.rows.tolist() == [[1, 2, 3], [4, 5, 6], [0, 0, 0]]


def test_a_cased_set_is_taken_at_its_word(tmp_path: Path) -> None:
    vectors = load_vectors(written(tmp_path / "own.txt", CASED), ["The", "the", "Elm", "ELM"])
    assert vectors.cased
    assert vectors.rows.tolist() == [[4, 5, 6], [1, 2, 3], [0, 1, 0], [0, 0, 0]]
    assert vectors.found.tolist() == [True, True, True, False]


def test_a_stray_capital_among_thousands_makes_no_cased_set(tmp_path: Path) -> None:
    text = "".join(f"w{n} {n}\n" for n in range(2000)) + "Stray 1\n"
    assert not load_vectors(written(tmp_path / "own.txt", text), ["W7"]).cased


def test_escapes_are_undone(lower: Path) -> None:
    vectors = load_vectors(lower, ["-LRB-", "(", r"and\/or", "and/or"])
    assert vectors.rows[:, 0].tolist() == [1, 1, 2, 2]


def test_no_words_are_no_rows(lower: Path) -> None:
    assert load_vectors(lower, []).rows.shape == (0, 3)


def test_the_first_lines_come_in_the_files_order(lower: Path) -> None:
    first = first_vectors(lower, 3)
    assert first.words == ("the", "elm", "the")
    assert first.rows.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert len(first_vectors(lower, 99).words) == 7


@given(words=st.lists(st.text("abAB -\u00e9", min_size=1, max_size=3), min_size=1, max_size=30))
def test_every_word_is_found_by_its_first_line_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    words = [word for word in words if word.rstrip() == word] or ["a"]
    folder = tmp_path_factory.mktemp("glove")
    text = "".join(f"{word} {number}.5 -{number}\n" for number, word in enumerate([*words, *["AB"] * 9]))
    path = written(folder / "own.2d.txt", text)
    asked = sorted({*words, "a", "b", "aB"})
    found = load_vectors(path, asked, cache=folder)
    assert found.rows[:, 0].tolist() == [words.index(w) + 0.5 if w in words else 0 for w in asked]
    assert read_vectors(path, cache=folder).words[: len(words)] == tuple(words)


def test_a_word_twice_is_an_error(lower: Path) -> None:
    with pytest.raises(ValueError, match="'elm' occurs twice; a vocabulary"):
        load_vectors(lower, ["the", "elm", "elm"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"glove\.txt: no such file; run `bough fetch glove`"):
        load_vectors(tmp_path / "glove.txt", ["the"])


# ---------------------------------------------------------------------- files


def test_plain_gzip_and_zip_are_the_same(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("glove.9B.3d.txt", "glove.9B.3d.txt.gz", "any.zip")]
    paths[0].write_text(LOWER)
    paths[1].write_bytes(gzip.compress(LOWER.encode()))
    paths[2].write_bytes(
        zipped({"glove.9B.2d.txt": "a 1 2\n", "glove.9B.3d.txt": LOWER, "notes.md": "x" * 999})
    )
    expected = read_vectors(paths[0])
    for path in paths[1:]:
        assert same(read_vectors(path), expected)


def test_words_may_contain_spaces_and_odd_characters(tmp_path: Path) -> None:
    text = "the 1 2\n. . . 3 4\nat me@example.org 5 6\r\n\u00a0 7 8\n\u2028x 9 1e-3\n1 11 12\n"
    vectors = read_vectors(written(tmp_path / "own.txt", text))
    assert vectors.words == ("the", ". . .", "at me@example.org", "\u00a0", "\u2028x", "1")
    assert vectors.rows[4, 1] == np.float32(1e-3)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a 1 2 3\nb 1 2\nc 1 2 3\n", 2, "2 values; a vector of own has 3"),
        ("a 1 2 3\n\nb 1 2 3\n", 2, "0 values"),
        ("a 1 2 3\nb 1 2 0.\nc 1 2\n", 3, "2 values"),  # cut off at the end of the file
        ("a 1 2 3\nb 1 2 -", 2, "not a number"),  # cut off in its last number
        ("a 1 2 3\nb 1 2c 1 2 x\n", 2, "not a number"),  # two lines run together
        ("400 3\na 1 2 3\n", 1, "word2vec header"),
        ("\na 1 2 3\n", 1, "no values"),
        ("", 1, "an empty file"),
        ("alone\n", 1, "no values"),
        *[
            (f"a 1 2 3\nb 1 {v} 3\n", 2, "number")
            for v in ("nan", "inf", "1e99", "0x1p3", "1,5", "", "0.1.2")
        ],
    ],
)
def test_a_malformed_line_is_an_error_with_its_number_and_nothing_is_kept(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    path = written(tmp_path / "own.txt", text)
    with pytest.raises(FormatError, match=reason) as caught:
        load_vectors(path, ["a"], cache=tmp_path / "cache")
    assert (caught.value.where, caught.value.line) == (str(path), line)
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("text", ["", "a 1 2\n"])
def test_a_name_that_promises_more_than_the_file_has_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        FormatError, match=r":1: (2 values; a vector of glove\.9B\.300d has 300|an empty file)"
    ):
        read_vectors(written(tmp_path / "glove.9B.300d.txt", text))


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    text = "".join(f"w{n} {n} {n * 0.37}\n" for n in range(5000))
    whole = zipped({"y.txt": text})
    middle = len(whole) // 2
    damaged = {
        "x.txt.gz": gzip.compress(text.encode())[:-2000],
        "y.zip": whole[:middle],
        "z.zip": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError, match=f"{name}.*fetch it again|{name}:[0-9]+: "):
            read_vectors(tmp_path / name)
    (tmp_path / "w.zip").write_bytes(zipped({"readme.md": "nothing"}))
    with pytest.raises(FormatError, match=r"no \.txt file in it"):
        read_vectors(tmp_path / "w.zip")


# ---------------------------------------------------------------------- the cache


def same(one: Vectors, other: Vectors) -> bool:
    return (
        (one.name, one.words, one.cased) == (other.name, other.words, other.cased)
        and np.array_equal(one.rows, other.rows)
        and np.array_equal(one.found, other.found)
    )


def test_a_file_is_read_once_for_every_look_up(
    lower: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache = tmp_path / "cache"
    with caplog.at_level(logging.INFO):
        expected = load_vectors(lower, ["elm", "zzz"], cache=cache)
    assert "converting it" in caplog.text
    monkeypatch.setattr("bough.data.vectors.vector_lines", lambda *_: pytest.fail("the file was read again"))
    assert same(load_vectors(lower, ["elm", "zzz"], cache=cache), expected)
    assert first_vectors(lower, 2, cache=cache).words == ("the", "elm")
    rows = read_vectors(lower, cache=cache).rows
    assert isinstance(rows, np.memmap)
    assert not rows.flags.writeable


def test_another_file_is_never_answered_from_the_cache(lower: Path, tmp_path: Path) -> None:
    load_vectors(lower, ["elm"], cache=tmp_path)
    status = lower.stat()
    lower.write_text(LOWER.replace("elm 4", "elm 9"))  # same size, and the same time:
    os.utime(lower, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert load_vectors(lower, ["elm"], cache=tmp_path).rows.tolist() == [[9, 5, 6]]
    os.utime(lower, ns=(1, 1))
    load_vectors(lower, ["elm"], cache=tmp_path)
    assert len(list(tmp_path.glob("*.npy"))) == 3


@pytest.mark.parametrize("suffix", ["npy", "json"])
@pytest.mark.parametrize("kept", [0, 8, -1])
def test_a_damaged_copy_is_made_again_with_a_warning(
    lower: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, suffix: str, kept: int
) -> None:
    cache = tmp_path / "cache"
    good = load_vectors(lower, ["elm"], cache=cache)
    (entry,) = cache.glob(f"*.{suffix}")
    entry.write_bytes(entry.read_bytes()[:kept].rstrip(b"}\n"))
    assert same(load_vectors(lower, ["elm"], cache=cache), good)
    assert caplog.text.count("a damaged copy of") == 1
    caplog.clear()
    assert same(load_vectors(lower, ["elm"], cache=cache), good)
    assert caplog.text == ""


def test_a_conversion_that_is_killed_leaves_no_copy(
    lower: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"

    def stop(handle: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("bough.files.os.fsync", stop)
        with pytest.raises(KeyboardInterrupt):
            load_vectors(lower, ["elm"], cache=cache)
    assert list(cache.iterdir()) == []
    assert load_vectors(lower, ["elm"], cache=cache).rows.tolist() == [[4, 5, 6]]


def test_a_cache_that_cannot_be_written_is_only_a_warning(
    lower: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = load_vectors(lower, ["elm", "The"])
    blocked = tmp_path / "cache"
    blocked.write_text("a file, not a folder")
    assert same(load_vectors(lower, ["elm", "The"], cache=blocked), expected)
    assert "the cache of vectors cannot be used" in caplog.text


def test_a_conversion_holds_little_more_than_the_words(tmp_path: Path) -> None:
    path = tmp_path / "own.txt.gz"
    line = " ".join(["0.12345"] * 300)
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(3000):  # 7 MB of text, 3.6 MB of rows
            file.write(f"w{number} {line}\n")
    tracemalloc.start()
    load_vectors(path, ["w1", "w2999"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


# ---------------------------------------------------------------------- words without a vector


def test_missing_words_get_small_uniform_vectors_of_their_own(lower: Path) -> None:
    vectors = load_vectors(lower, ["elm", "zzz", "yyy"])
    rows = embedding_rows(vectors, 1)
    assert rows.dtype == np.float32
    assert rows.flags.writeable
    assert rows[0].tolist() == [4, 5, 6]
    assert not np.array_equal(rows[1], rows[2])
    assert (np.abs(rows[1:]) <= 0.05).all()
    assert vectors.rows[1].tolist() == [0, 0, 0]  # the rows themselves are left alone


def test_a_random_vector_depends_on_word_and_seed_alone() -> None:
    one = random_rows(["oak", "elm"], 50, 1)
    assert np.array_equal(one[1], random_rows(["elm"], 50, 1)[0])
    assert not np.array_equal(one[1], random_rows(["elm"], 50, 2)[0])
    assert random_rows([], 50, 1).shape == (0, 50)


def test_random_vectors_are_uniform() -> None:
    values = np.sort(random_rows([f"w{n}" for n in range(500)], 100, 3).ravel().astype(np.float64))
    expected = np.linspace(-0.05, 0.05, len(values))
    assert np.abs(values - expected).max() < 0.1 * 0.01  # a Kolmogorov-Smirnov distance under 1%
