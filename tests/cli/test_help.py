"""Claims about `bough --help`: a line for every command, grouped as people think of them, at once."""

import re
import subprocess
import sys

import pytest

import bough
from bough.cli import COMMANDS, main, version
from bough.nn.kernels import path

NAMES = {
    "Text": ["sentiment", "relatedness", "nearest", "parse", "score", "serve"],
    "Your own data": ["fit", "evaluate", "predict"],
    "Tools": ["parser", "fetch"],
}


def test_every_command_has_one_line_in_its_group(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    main(["--help"])
    shown = capsys.readouterr().out
    panels = re.findall(r"─ ([\w ]+) ─+╮\n(.*?)\n╰", shown, re.DOTALL)
    for (title, body), (name, commands) in zip(panels, NAMES.items(), strict=False):
        assert title == name
        lines = [re.fullmatch(r"│ (\w+) +(\S.*\.) +│", line) for line in body.split("\n")]
        assert [line and line[1] for line in lines] == commands
    assert len(panels) == len(NAMES) + 1
    assert COMMANDS.keys() == NAMES.keys()


@pytest.mark.parametrize(
    "usage",
    [
        "bough evaluate MODEL FILE [OPTIONS]",
        "bough parser train TREEBANK... --dev FILE... --out FOLDER [OPTIONS]",
        "bough parser evaluate PARSER TREEBANK... [OPTIONS]",
        "bough relatedness [OPTIONS] A B",
    ],
)
def test_the_usage_names_every_argument(usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = usage.partition("[")[0].split()[1:]
    main([*(word for word in command if word.islower() and word[0] != "-"), "--help"])
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: {usage}\n")
    assert "--empty-" not in shown
    assert "[default: []]" not in shown


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(flag: str) -> None:
    code = f"import sys; from bough.cli import main; main([{flag!r}]); print(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"torch", "numpy", "scipy", "fastapi"} & set(run.stderr.split())


def test_the_version_tells_what_runs_the_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "0")
    assert version() == f"{bough.__version__} (layers by their equations, BOUGH_FAST=0)"
    monkeypatch.delenv("BOUGH_FAST")
    assert ("layers by C" in version()) == (path() == "c")
