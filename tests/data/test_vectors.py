from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from bough.data import DataError
from bough.data.vectors import embedding_rows, first_vectors, load_vectors, random_rows
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


@pytest.mark.parametrize("cached", [False, True])
def test_no_words_are_no_rows(lower: Path, tmp_path: Path, cached: bool) -> None:
    assert load_vectors(lower, [], cache=tmp_path / "cache" if cached else None).rows.shape == (0, 3)


def test_the_first_lines_come_in_the_files_order(lower: Path, tmp_path: Path) -> None:
    for cache in (None, tmp_path / "cache"):
        first = first_vectors(lower, 3, cache=cache)
        assert first.words == ("the", "elm", "the")
        assert first.rows.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        assert len(first_vectors(lower, 99, cache=cache).words) == 7


def test_a_word_twice_is_an_error(lower: Path) -> None:
    with pytest.raises(ValueError, match="'elm' occurs twice; a vocabulary"):
        load_vectors(lower, ["the", "elm", "elm"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"glove\.txt: no such file; run `bough fetch glove`"):
        load_vectors(tmp_path / "glove.txt", ["the"])


@pytest.mark.parametrize("line", ["elm 1 2", "elm 1 x 3", "elm 1 inf 3"])
def test_a_malformed_line_is_an_error_and_nothing_is_cached(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "own.3d.txt", f"the 1 2 3\n{line}\n")
    with pytest.raises(FormatError, match=r"own\.3d\.txt:2: "):
        load_vectors(path, ["elm"], cache=tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*.vectors"))


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
