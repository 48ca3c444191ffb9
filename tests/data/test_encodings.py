"""Claims about files of other programs in other encodings: fitted, scored and evaluated, or refused with the way on."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import bough
from bough.cli import main
from bough.data.labelled import open_labelled
from bough.pipelines.files import score_file
from fitted_pipelines import WITHOUT_PARSER, fitted, folder_of

ROWS = [f"{n} Tage zu {word}" for n in range(20) for word in ("spät", "früh")]
TABLE = "text,label\n" + "".join(f"{text},{text[-4:]}\n" for text in ROWS)
WRITTEN = {"cp1252": "cp1252", "utf-16": None, "utf-8-sig": None, "utf-32": None}


@pytest.mark.parametrize(("written", "named"), WRITTEN.items())
def test_a_table_is_read_in_its_encoding(written: str, named: str | None, tmp_path: Path) -> None:
    path = tmp_path / "tickets.csv"
    path.write_bytes(TABLE.encode(written))
    source = open_labelled(path, encoding=named)
    assert [example.items[0] for example in source.examples] == ROWS
    assert {example.label for example in source.examples} == {"spät", "früh"}


@pytest.mark.parametrize(
    ("suffix", "line"), [("txt", "(gut (x Öl) (y da))"), ("jsonl", '{"text": "Öl", "label": "gut"}')]
)
def test_trees_and_json_lines_are_read_in_their_encoding(suffix: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(f"{line}\n".encode("cp1252"))
    (example,) = open_labelled(path, encoding="cp1252").examples
    assert "Öl" in repr(example.items[0])
    assert example.label == "gut"


def test_a_fit_takes_the_encoding_of_its_files(tmp_path: Path) -> None:
    path = tmp_path / "tickets.csv"
    path.write_bytes(TABLE.encode("cp1252"))
    mine = bough.fit(path, encoding="cp1252", **WITHOUT_PARSER)
    assert set(mine.classes) == {"spät", "früh"}


@pytest.mark.parametrize(("written", "named"), WRITTEN.items())
def test_a_file_is_scored_and_resumed_in_its_encoding(
    written: str, named: str | None, tmp_path: Path
) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    source.write_bytes(TABLE.encode(written))
    score_file(fitted("classes"), source, out, brief=True, encoding=named)
    whole = out.read_bytes()
    assert [json.loads(line)["text"] for line in whole.decode().splitlines()] == ROWS
    out.write_bytes(whole[:-9])
    score_file(fitted("classes"), source, out, brief=True, encoding=named, resume=True)
    assert out.read_bytes() == whole


def test_standard_input_is_read_in_its_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for written, named in WRITTEN.items():
        content = '{"text": "zu spät"}\n'.encode(written)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        score_file(fitted("classes"), "-", tmp_path / written, brief=True, encoding=named)
        assert json.loads((tmp_path / written).read_text(encoding="utf-8"))["text"] == "zu spät"


def test_the_commands_name_the_option_and_take_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, model = tmp_path / "tickets.csv", str(folder_of("classes"))
    path.write_bytes(TABLE.replace("spät", "too late").replace("früh", "in time").encode("utf-8"))
    path.write_bytes(path.read_bytes() + "Größe,too late\n".encode("cp1252"))
    commands = [["fit", str(path)], ["score", str(path), "--model", model], ["evaluate", model, str(path)]]
    commands += [["nearest", "x", "--corpus", str(path)], ["parse", "--file", str(path)]]
    for command in commands:
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == 2
        assert "is not UTF-8; the file looks like cp1252: --encoding cp1252" in capfd.readouterr().err
    for command in commands[1:]:
        main([*command, "--encoding", "cp1252"])
    shown = capfd.readouterr().out
    assert "Größe" in shown
