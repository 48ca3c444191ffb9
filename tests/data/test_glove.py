from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from bough.data.glove import GloveFile
from bough.errors import FormatError
from web_server import zipped

TEXT = "the 0.1 0.2 0.3\nelm -1 2.5 1e-3\n"


def words(path: Path) -> list[str]:
    return [word.decode() for _, word, _ in GloveFile(path).lines()]


def plain(folder: Path, text: str, name: str = "own.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_plain_gzip_and_zip_are_the_same(tmp_path: Path) -> None:
    paths = [plain(tmp_path, TEXT, "glove.9B.3d.txt"), tmp_path / "glove.9B.3d.txt.gz", tmp_path / "any.zip"]
    paths[1].write_bytes(gzip.compress(TEXT.encode()))
    paths[2].write_bytes(zipped({"glove.9B.3d.txt": TEXT}))
    for path in paths:
        glove = GloveFile(path)
        assert (glove.name, glove.dim) == ("glove.9B.3d", 3)
        assert [(n, w) for n, w, _ in glove.lines()] == [(1, b"the"), (2, b"elm")]
        _, values = [(n, values) for n, _, values in glove.lines()][1]
        np.testing.assert_array_equal(glove.vector(values, 2), np.array([-1, 2.5, 1e-3], dtype=np.float32))


def test_of_several_sets_in_an_archive_it_is_the_longest_vectors(tmp_path: Path) -> None:
    path = tmp_path / "glove.9B.zip"
    path.write_bytes(
        zipped({"glove.9B.2d.txt": "a 1 2\n", "glove.9B.3d.txt": "a 1 2 3\n", "notes.md": "x" * 99})
    )
    assert GloveFile(path).name == "glove.9B.3d"
    assert GloveFile(path).dim == 3


def test_words_may_contain_spaces_and_odd_characters(tmp_path: Path) -> None:
    text = "the 1 2\n. . . 3 4\nat me@example.org 5 6\n\u00a0 7 8\n\u2028x 9 10\n1 11 12\n"
    assert words(plain(tmp_path, text)) == ["the", ". . .", "at me@example.org", "\u00a0", "\u2028x", "1"]


def test_windows_line_ends_are_no_part_of_a_number(tmp_path: Path) -> None:
    glove = GloveFile(plain(tmp_path, "a 1 2\r\nb 3 4\r\n"))
    assert [glove.vector(values, n).tolist() for n, _, values in glove.lines()] == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a 1 2 3\nb 1 2\nc 1 2 3\n", 2, "2 values; a vector of own has 3"),
        ("a 1 2 3\n\nb 1 2 3\n", 2, "0 values"),
        ("a 1 2 3\nb 1 2 0.\nc 1 2\n", 3, "2 values"),  # cut off at the end of the file
        ("a 1 2 3\nb 1 2 -", 2, "not a number"),  # cut off in its last number
        ("a 1 2 3\nb 1 2c 1 2 x\n", 2, "not a number"),  # two lines run together
        ("a 1 2 3\nb c 1 nan 3\n", 2, "infinite or not a number"),
        ("400 3\na 1 2 3\n", 1, "word2vec header"),
        ("\na 1 2 3\n", 1, "an empty line"),
        ("", 1, "an empty line"),
        ("alone\n", 1, "no values"),
    ],
)
def test_a_torn_or_malformed_line_is_an_error_with_its_number(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    path = plain(tmp_path, text)
    with pytest.raises(FormatError, match=reason) as caught:
        words(path)
    assert (caught.value.where, caught.value.line) == (str(path), line)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e99", "0x1p3", "1,5", "", "0.1.2"])
def test_a_value_that_is_no_finite_number_is_an_error(tmp_path: Path, value: str) -> None:
    glove = GloveFile(plain(tmp_path, f"a 1 {value} 3\n", "own.3d.txt"))
    with pytest.raises(FormatError, match=r"own\.3d\.txt:1: .*number"):
        [glove.vector(values, number) for number, _, values in glove.lines()]


def test_a_name_that_promises_more_than_the_file_has_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r":1: 2 values; a vector of glove\.9B\.300d has 300"):
        words(plain(tmp_path, "a 1 2\n", "glove.9B.300d.txt"))


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    text = "".join(f"w{n} {n} {n * 0.37}\n" for n in range(5000))
    cut, cut_zip, bad_crc = tmp_path / "x.txt.gz", tmp_path / "y.zip", tmp_path / "z.zip"
    cut.write_bytes(gzip.compress(text.encode())[:-2000])
    whole = zipped({"y.txt": text})
    cut_zip.write_bytes(whole[: len(whole) // 2])
    middle = len(whole) // 2
    bad_crc.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    for path in (cut, cut_zip, bad_crc):
        with pytest.raises(FormatError, match=f"{path.name}.*fetch it again|{path.name}:[0-9]+: "):
            words(path)


def test_an_archive_without_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(zipped({"readme.md": "nothing"}))
    with pytest.raises(FormatError, match=r"no \.txt file in it"):
        GloveFile(path)


def test_progress_grows_to_the_size_of_the_file(tmp_path: Path) -> None:
    path = plain(tmp_path, "".join(f"w{n} 1 2\n" for n in range(20_000)))
    calls: list[tuple[int, int]] = []
    GloveFile(path).count(lambda done, total: calls.append((done, total)))
    size = path.stat().st_size
    assert len(calls) > 2
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert {total for _, total in calls} == {size}
    assert calls[-1] == (size, size)
