"""Claims about parts: together they are the file, row for row, however it is cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.errors import FormatError
from bough.integrations.ray.files import cut, find, records
from bough.pipelines.files import records_of

pytest.importorskip("pyarrow")
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12)


def rows_of(path: Path, size: int, *, pairs: bool = False) -> list[dict[str, object]]:
    (file,) = find(str(path))
    parts = cut(file, size)
    if path.suffix != ".parquet":  # whose parts end with its row groups
        assert all(part.rows == size for part in parts[:-1])
    found = [list(records(part, pairs=pairs)) for part in parts]
    assert [len(rows) for rows in found] == [part.rows for part in parts]
    return [row for rows in found for row in rows]


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(LINE, max_size=14), size=st.integers(1, 5), last=st.booleans())
def test_lines_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, last: bool
) -> None:
    path = tmp_path_factory.mktemp("lines") / "in.txt"
    path.write_bytes(("\n".join(lines) + "\n" * (last and bool(lines))).encode())
    with path.open("rb") as whole:
        wanted = list(records_of(whole, path, pairs=False))
    found = rows_of(path, size)
    assert [row["text"] for row in found] == [record["text"] for record in wanted]
    assert [row["line"] for row in found] == list(range(1, len(wanted) + 1))
    assert {row["file"] for row in found} <= {str(path)}


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_the_rows_of_a_table_may_go_over_several_lines(tmp_path: Path, size: int) -> None:
    path = tmp_path / "in.csv"
    path.write_text('id,text\n1,good\n\n2,"two\nlines, ""quoted"""\n3,bad\n,\n\n4,"a\n\nb"\n')
    found = rows_of(path, size)
    assert [(row["id"], row["line"]) for row in found] == [("1", 2), ("2", 4), ("3", 6), ("4", 9)]
    assert [row["text"] for row in found] == ["good", 'two\nlines, "quoted"', "bad", "a\n\nb"]


def test_json_lines_keep_their_other_keys_and_those_of_results_apart(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"t{i}", "id": i, "line": "mine"}) + "\n" for i in range(5)))
    found = rows_of(path, 2)
    assert [(row["id"], row["line"], row["given"]) for row in found] == [
        (i, i + 1, {"line": "mine"}) for i in range(5)
    ]


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_parquet_by_rows_whatever_its_groups(tmp_path: Path, size: int) -> None:
    import datetime

    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "in.parquet"
    day = datetime.date(2015, 7, 26)
    table = pa.table({"text": [f"t{i}" if i != 5 else None for i in range(11)], "day": [day] * 11})
    parquet.write_table(table, path, row_group_size=4)
    found = rows_of(path, size)
    assert [row["text"] for row in found] == [f"t{i}" if i != 5 else "" for i in range(11)]
    assert [row["line"] for row in found] == list(range(1, 12))
    assert found[0]["day"] == "2015-07-26"


def test_a_cell_of_parquet_is_what_json_can_say_of_it(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "in.parquet"
    nested = {"x": [1.5, float("-inf")], "raw": b"\xff!"}
    columns = {"text": ["caf\u00e9".encode(), None], "stars": [float("nan"), 4.0], "more": [nested, None]}
    parquet.write_table(pa.table(columns), path)
    first, second = rows_of(path, 2)
    assert (first["text"], second["text"]) == ("caf\u00e9", "")
    assert (first["stars"], second["stars"]) == (None, 4.0)
    assert first["more"] == {"x": [1.5, None], "raw": "\\xff!"}
    parquet.write_table(pa.table({"text": [b"fine", b"f\xff"]}), path)
    with pytest.raises(FormatError, match=r"in\.parquet:2: byte 0xff is not UTF-8"):
        rows_of(path, 1)


@pytest.mark.parametrize("brief", [True, False])
def test_a_table_has_a_column_for_all_that_a_result_says(brief: bool) -> None:
    """So that `given` holds what came with the text, and nothing else."""
    from pyarrow import BufferReader, parquet

    from bough.integrations.ray.scoring import parquet_bytes
    from bough.pipelines.files import NO_PHRASES, NO_TEXT

    said = {**NO_TEXT, **({} if brief else NO_PHRASES)}
    content = parquet_bytes([{"file": "f", "line": 1, "text": "", "id": 7, **said}], pairs=False, brief=brief)
    (row,) = parquet.read_table(BufferReader(content)).to_pylist()
    assert row == {"file": "f", "line": 1, "text": "", "given": '{"id": 7}', **said}


def test_pairs(tmp_path: Path) -> None:
    path = tmp_path / "in.tsv"
    path.write_text("a\tb\nx\ty\np\tq\n")
    assert [(row["a"], row["b"]) for row in rows_of(path, 1, pairs=True)] == [("x", "y"), ("p", "q")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("in.jsonl", b'{"text": "a"}\n{"text": "b"}\n{"no": 1}\n', 'in.jsonl:3: no "text" key'),
        ("in.txt", b"a\nb\nc\xff\n", "in.txt:3: byte 0xff"),
        ("in.csv", b"text,id\na,1\nb,2\nc\n", "in.csv:4: 1 cell, 2 columns"),
        ("in.csv", b"review,id\na,1\n", 'in.csv:2: no "text" key'),
        ("in.parquet", b"nothing like it", "in.parquet: not Parquet"),
    ],
)
def test_what_is_wrong_says_where(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=said.replace(".", r"\.")):
        rows_of(path, 2)


def test_an_empty_file_has_no_part(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"")
    assert rows_of(tmp_path / "in.txt", 2) == []


def test_files_folders_and_globs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in/a.txt", "in/b.jsonl", "in/sub/c.txt", "in/.hidden", "in/sub/_log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")

    def names(source: str) -> list[str]:
        return [file.name for file in find(source)]

    assert names("in") == names("./in/") == ["in/a.txt", "in/b.jsonl", "in/sub/c.txt"]
    assert names("in/*.txt") == names("*/a.txt") == names("in/?.txt") == ["in/a.txt"]
    assert names("in/**/*.txt") == ["in/a.txt", "in/sub/c.txt"]
    assert names(f"file://{tmp_path}/in/*.txt") == [f"file://{tmp_path}/in/a.txt"]
    for source in ("in/none.txt", "in/*.csv", "no/*.txt"):
        with pytest.raises(FormatError, match=r"no such file|no file matches"):
            find(source)
    with pytest.raises(ValueError, match="nowhere://x"):
        find("nowhere://x")


def test_whatever_a_file_is_called_its_uri_leads_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "sp ace"
    folder.mkdir()
    called = ["a b.txt", "a%20b.txt", "a#?.txt", "day=1.txt"]
    for name in called:
        (folder / name).write_text(f"{name}\n")
    uri = f"file://{tmp_path}/sp%20ace"
    for source in (uri, f"{uri}/*.txt", f"file://{tmp_path}/sp ace", str(folder)):
        rows = [row for file in find(source) for part in cut(file) for row in records(part, pairs=False)]
        assert sorted(str(row["text"]) for row in rows) == sorted(called)
    assert [file.name for file in find(f"{uri}/a%20*")] == [f"file://{folder}/a b.txt"]
