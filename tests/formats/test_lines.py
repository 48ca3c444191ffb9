"""One convention for every format: paths, open files and lines; UTF-8, BOM, CRLF; errors that say where."""

import io
import pickle
from typing import Any

import pytest

from bough import FormatError, Tree
from bough.formats import conllu, pointers, ptb

BRACKETS = "(S (NP (DT Die) (NN Ulme)) (VP (VBZ wächst)))\n(X é)\n"
CONLLU = "1\tÉlms\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbend\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
POINTERS = "2 0\n0\n"

formats = pytest.mark.parametrize(
    ("read", "text"),
    [(ptb.read, BRACKETS), (conllu.read, CONLLU), (pointers.read, POINTERS)],
    ids=["ptb", "conllu", "pointers"],
)


@formats
def test_a_path_an_open_file_and_lines_read_alike(tmp_path: Any, read: Any, text: Any) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(text, encoding="utf-8")
    expected = read(text.split("\n")[:-1])
    assert all(isinstance(tree, Tree) for tree in expected)
    assert read(path) == read(str(path)) == read(io.StringIO(text)) == read(text.splitlines(True)) == expected
    with open(path, encoding="utf-8") as as_text, open(path, "rb") as as_bytes:
        assert read(as_text) == read(as_bytes) == expected


@formats
@pytest.mark.parametrize("change", [lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"), str.rstrip])
def test_bom_crlf_and_a_missing_last_line_end_change_nothing(
    tmp_path: Any, read: Any, text: Any, change: Any
) -> None:
    path = tmp_path / "trees.txt"
    path.write_bytes(change(text).encode())
    assert read(path) == read(text.split("\n")[:-1])


@formats
def test_an_empty_file_holds_no_trees(tmp_path: Any, read: Any, text: Any) -> None:
    path = tmp_path / "trees.txt"
    path.write_text("")
    assert read(path) == []


@formats
def test_bad_utf8_is_a_format_error_with_its_line(tmp_path: Any, read: Any, text: Any) -> None:
    path = tmp_path / "trees.txt"
    path.write_bytes(text.encode() + b"\xe9\n")
    line = text.count("\n") + 1
    with pytest.raises(FormatError, match=rf"trees\.txt:{line}: byte 0xe9 is not UTF-8"):
        read(path)
    with (
        open(path, encoding="utf-8") as opened,
        pytest.raises(FormatError, match=r"trees\.txt:\d+: byte 0xe9"),
    ):
        read(opened)


@formats
def test_a_missing_file_is_the_systems_error(tmp_path: Any, read: Any, text: Any) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.txt")


@formats
def test_errors_carry_where_line_and_reason_apart(tmp_path: Any, read: Any, text: Any) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(text + ") bad\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read(path)
    error = caught.value
    assert (error.where, error.line) == (str(path), text.count("\n") + 1)
    assert str(error) == f"{error.where}:{error.line}: {error.reason}"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.raises(FormatError, match=rf"^mine:{error.line}: "):
        read(path, where="mine")
    with pytest.raises(FormatError, match=rf"^{error.line}: "):
        read([*text.split("\n")[:-1], ") bad"])
