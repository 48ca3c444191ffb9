"""Claims about `bough parser silver`: it writes silver data, and reports an error in one line."""

from pathlib import Path

import pytest

from bough.text import BUILTIN
from cli_calls import bough


def test_silver_text_is_written_once(tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.txt", tmp_path / "silver.jsonl"
    texts.write_text("The oak bends in the wind. It is old now.\nThe oak is very old.\n")
    made = bough("parser", "silver", str(texts), "--out", str(out), "--other", str(BUILTIN))
    assert made.returncode == 0, made.stderr
    assert "3 sentences; the parsers agree on 100.0% of the arcs" in made.stderr
    again = bough("parser", "silver", str(texts), "--out", str(out))
    assert again.returncode == 2
    assert "is there already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no.txt", "--out", "silver.jsonl"), "no.txt: no such file"),
        (("texts.txt", "--out", "silver.jsonl", "--other", "oak"), "no parser 'oak'"),
        (("texts.txt",), "--out"),
        (("--out", "silver.jsonl"), "TEXTS"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("The oak is very old.\n")
    failed = bough("parser", "silver", *arguments)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
