"""Claims about encodings: marks are read, other text is UTF-8 or as it is named, and an error names a likely one."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.errors import FormatError
from bough.formats.encoding import USUAL, decoded, likely_encoding
from bough.formats.lines import numbered

TEXT = "id,text\n1,Zu sp\u00e4t \u2013 schade\n\n2,\u010c\u0a0a\U0001f600 Ende"
MARKED = {
    "utf-8-sig": codecs.BOM_UTF8 + TEXT.encode(),
    "utf-16, little": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    "utf-16, big": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "utf-32": TEXT.encode("utf-32"),
    "utf-16 without a mark": TEXT.encode("utf-16-le"),
    "utf-8": TEXT.encode(),
}
SAMPLES = {
    "cp1252": "Die Lieferung kam zu spät und war beschädigt.\nTrès déçu par la qualité du café\n",
    "cp1250": "Zażółć gęślą jaźń, dobra książka\nBardzo źle się działo\n",
    "cp1251": "Отличный товар, рекомендую\n",
    "shift_jis": "この映画はとても面白かったです\n",
}


@pytest.mark.parametrize("kind", MARKED)
def test_a_file_is_read_by_its_mark_or_as_utf_8(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(MARKED[kind])
    lines = [*enumerate(TEXT.split("\n"), 1)]
    assert list(numbered(path, "a.csv")) == lines
    with path.open("rb") as stream:
        assert list(numbered(stream, "a.csv")) == lines


@given(
    st.text(st.characters(codec="utf-8")),
    st.integers(1, 7),
    st.sampled_from(["utf-16", "utf-32-be", "gb18030"]),
)
def test_pieces_may_end_inside_a_character(text: str, size: int, encoding: str) -> None:
    content = text.encode(encoding)
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    lines = text.split("\n")
    assert list(decoded(pieces, encoding)) == (lines if lines[-1] else lines[:-1])


@pytest.mark.parametrize("encoding", SAMPLES)
def test_an_error_names_the_likely_encoding_and_that_one_reads_the_file(
    encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"plain\n" + SAMPLES[encoding].encode(encoding))
    message = rf"^a\.txt:2: byte 0x\w\w is not UTF-8; the file looks like {encoding}: encoding='{encoding}'$"
    with pytest.raises(FormatError, match=message):
        list(numbered(path, "a.txt"))
    lines = [line for _, line in numbered(path, "a.txt", encoding=encoding)]
    assert lines == ["plain", *SAMPLES[encoding].splitlines()]


def test_of_equally_likely_encodings_the_most_usual_is_named() -> None:
    assert likely_encoding("sch\u00f6n".encode("cp1252")) == "cp1252" == USUAL[0]


def test_a_wrong_or_unknown_encoding_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n\x81two")
    with pytest.raises(FormatError, match=r"^a\.txt:2: byte 0x81 is not cp1252$"):
        list(numbered(path, "a.txt", encoding="cp1252"))
    for unknown in ("cp99", "hex"):
        with pytest.raises(ValueError, match=f"^encoding '{unknown}': unknown; give one such as utf-8"):
            list(numbered(path, "a.txt", encoding=unknown))
    assert list(numbered(["", "b"], None)) == [(1, ""), (2, "b")]
