from __future__ import annotations

import gzip
import json
import logging
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from bough.data import DataError
from bough.data.vectors import Coverage, Vectors, choose, coverage, embedding_rows, load_vectors, random_rows
from bough.errors import FormatError

LOWER = "the 1 2 3\nelm 4 5 6\nthe 7 8 9\n( 1 1 1\nand/or 2 2 2\n. . . 3 3 3\nil 0 0 1\n"
CASED = "the 1 2 3\nThe 4 5 6\nelm 7 8 9\nElm 0 1 0\n"


@pytest.fixture
def lower(tmp_path: Path) -> Path:
    return written(tmp_path / "glove.9B.3d.txt", LOWER)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def same(one: Vectors, other: Vectors) -> bool:
    return (
        (one.name, one.words, one.cased) == (other.name, other.words, other.cased)
        and np.array_equal(one.rows, other.rows)
        and np.array_equal(one.found, other.found)
    )


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


def test_no_words_are_no_rows(lower: Path, tmp_path: Path) -> None:
    assert load_vectors(lower, [], cache=tmp_path / "cache").rows.shape == (0, 3)


def test_a_word_twice_is_an_error(lower: Path) -> None:
    with pytest.raises(ValueError, match="'elm' is twice among the words"):
        load_vectors(lower, ["the", "elm", "elm"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"glove\.txt: no such file; run `bough fetch glove`"):
        load_vectors(tmp_path / "glove.txt", ["the"])


@pytest.mark.parametrize("line", ["elm 1 2", "elm 1 x 3", "elm 1 inf 3"])
def test_a_malformed_line_is_an_error_and_nothing_is_cached(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "own.3d.txt", f"the 1 2 3\n{line}\n")
    with pytest.raises(FormatError, match=r"own\.3d\.txt:2: "):
        load_vectors(path, ["elm"], cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.txt.gz"
    line = " ".join(["0.12345"] * 300)
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(10_000):  # 24 MB
            file.write(f"w{number} {line}\n")
    tracemalloc.start()
    load_vectors(path, ["w1", "w9999"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


# ---------------------------------------------------------------------- the cache


def test_the_cache_gives_the_same_without_reading_the_file(
    lower: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["elm", "zzz", "The"]
    first = load_vectors(lower, words, cache=tmp_path / "cache")
    monkeypatch.setattr("bough.data.vectors._scan", lambda *_: pytest.fail("the file was read again"))
    again = load_vectors(lower, words, cache=tmp_path / "cache")
    assert same(first, again)
    assert isinstance(first.rows, np.memmap)
    assert isinstance(again.rows, np.memmap)
    assert not again.rows.flags.writeable


def test_another_file_or_vocabulary_is_never_answered_from_the_cache(lower: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    load_vectors(lower, ["elm", "the"], cache=cache)
    assert load_vectors(lower, ["the", "elm"], cache=cache).rows.tolist() == [[1, 2, 3], [4, 5, 6]]
    status = lower.stat()
    written(lower, LOWER.replace("elm 4", "elm 9"))  # same size, and the same time:
    os.utime(lower, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert load_vectors(lower, ["elm", "the"], cache=cache).rows[0].tolist() == [9, 5, 6]
    os.utime(lower, ns=(1, 1))
    load_vectors(lower, ["elm", "the"], cache=cache)
    assert len(list(cache.glob("*.json"))) == 4


@pytest.mark.parametrize(
    "damage",
    ["cut rows", "flip a byte", "no rows", "cut about", "empty about", "wrong about"],
)
def test_a_damaged_entry_is_made_again_with_a_warning(
    lower: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    cache = tmp_path / "cache"
    good = load_vectors(lower, ["elm", "zzz"])
    load_vectors(lower, ["elm", "zzz"], cache=cache)
    rows, about = next(cache.glob("*.npy")), next(cache.glob("*.json"))
    content = rows.read_bytes()
    if damage == "cut rows":
        rows.write_bytes(content[:-4])
    elif damage == "flip a byte":
        rows.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "no rows":
        rows.unlink()
    elif damage == "wrong about":
        about.write_text(json.dumps({**json.loads(about.read_text()), "missing": [7]}))
    else:
        about.write_text(about.read_text()[:10] if damage == "cut about" else "")
    with caplog.at_level(logging.WARNING):
        assert same(load_vectors(lower, ["elm", "zzz"], cache=cache), good)
    assert "a damaged entry of the vector cache" in caplog.text
    caplog.clear()
    assert same(load_vectors(lower, ["elm", "zzz"], cache=cache), good)
    assert caplog.text == ""


def test_a_write_that_stops_half_way_leaves_no_entry_that_counts(
    lower: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    replace = os.replace

    def rows_only(source: Path, target: Path) -> None:
        if target.suffix == ".json":
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("bough.data.vectors.os.replace", rows_only)
        with pytest.raises(KeyboardInterrupt):
            load_vectors(lower, ["elm"], cache=cache)
    assert [path.suffix for path in cache.iterdir()] == [".npy"]
    assert load_vectors(lower, ["elm"], cache=cache).rows.tolist() == [[4, 5, 6]]


def test_a_cache_that_cannot_be_written_is_only_a_warning(
    lower: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = written(tmp_path / "blocked", "a file, not a folder")
    assert load_vectors(lower, ["elm"], cache=blocked).rows.tolist() == [[4, 5, 6]]
    assert "cannot be written" in caplog.text


# ---------------------------------------------------------------------- coverage and choice


def test_coverage_counts_types_and_tokens(lower: Path) -> None:
    vectors = load_vectors(lower, ["the", "elm", "zzz", "unused"])
    known = coverage(vectors, {"the": 90, "elm": 5, "zzz": 5})
    assert known == Coverage(types=3, types_found=2, tokens=100, tokens_found=95)
    assert str(known) == "66.7% of 3 types, 95.0% of 100 tokens"
    assert coverage(vectors, {}).share == 1
    with pytest.raises(ValueError, match="counts has 'oak'"):
        coverage(vectors, {"oak": 1})


@pytest.fixture
def both(tmp_path: Path) -> Path:
    line = " ".join(["0.5"] * 300)
    written(tmp_path / "glove" / "glove.840B.300d.txt", f"The {line}\nthe {line}\n")
    written(tmp_path / "glove" / "glove.6B.300d.txt", f"the {line}\nelm {line}\n")
    return tmp_path


@pytest.mark.parametrize(("rare", "chosen"), [(0, "840B"), (5, "840B"), (6, "6B"), (100, "6B")])
def test_auto_takes_840b_from_95_percent_of_the_tokens(
    both: Path, caplog: pytest.LogCaptureFixture, rare: int, chosen: str
) -> None:
    with caplog.at_level(logging.INFO):
        path = choose(both, {"the": 100 - rare, "elm": rare} if rare else {"the": 1})
    assert path.name == f"glove.{chosen}.300d.txt"
    assert path.name in caplog.text


def test_auto_reads_840b_once_for_the_choice_and_the_vectors(
    both: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["The", "elm", "the"]
    path = choose(both, {"the": 1}, words=words, cache=both / "cache")
    monkeypatch.setattr("bough.data.vectors._scan", lambda *_: pytest.fail("the file was read again"))
    assert load_vectors(path, words, cache=both / "cache").found.tolist() == [True, False, True]


def test_auto_without_840b_is_6b(both: Path) -> None:
    (both / "glove" / "glove.840B.300d.txt").unlink()
    assert choose(both, {"the": 1}).name == "glove.6B.300d.txt"


def test_auto_with_too_small_an_840b_alone_says_the_ways_out(both: Path) -> None:
    (both / "glove" / "glove.6B.300d.txt").unlink()
    with pytest.raises(DataError, match=r"50\.0% of 2 tokens, 95% wanted.*bough fetch glove.*--vectors 840B"):
        choose(both, {"the": 1, "elm": 1})


def test_auto_without_any_says_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"neither glove\.840B\.300d nor glove\.6B\.300d; run `bough fetch glove`"
    ):
        choose(tmp_path, {"the": 1})


def test_a_name_or_a_path_is_taken_as_it_is(both: Path, lower: Path) -> None:
    assert choose(both, {"elm": 1}, "840B").name == "glove.840B.300d.txt"
    assert choose(both, {"elm": 1}, lower) == lower
    assert choose(both, {"elm": 1}, str(lower)) == lower
    (both / "glove" / "glove.42B.300d.zip").touch()
    assert choose(both, {}, "42B").name == "glove.42B.300d.zip"


def test_a_name_or_a_path_that_is_not_there_is_an_error(both: Path) -> None:
    with pytest.raises(DataError, match=r"no glove\.42B\.300d; run `bough fetch glove`"):
        choose(both, {}, "42B")
    with pytest.raises(DataError, match=r"vectors '7B': no such file, nor 'auto', '840B', '42B', '6B'"):
        choose(both, {}, "7B")


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
