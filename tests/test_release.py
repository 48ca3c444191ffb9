"""Claims about the project's own files: version, changelog and citation agree, and `make help` tells every target."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

import bough

ROOT = Path(__file__).parents[1]
NAMED = ("src/bough/version.py", "CHANGELOG.md", "CITATION.cff", "pyproject.toml")


def wrong(root: Path) -> list[str]:
    found: list[str] = runpy.run_path(str(ROOT / "tools" / "release_check.py"))["wrong_facts"](root)
    return found


def test_the_version_is_said_once_and_the_files_agree() -> None:
    assert wrong(ROOT) == []
    assert f'"{bough.__version__}"' in (ROOT / NAMED[0]).read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (NAMED[0], f'"{bough.__version__}"', '"9.9.9"', "CHANGELOG.md has 0 sections '## 9.9.9 "),
        (NAMED[0], f'"{bough.__version__}"', '"9.9"', "version.py has '9.9'; a release is x.y.z"),
        (NAMED[1], f"## {bough.__version__} (", "## Someday (", "CHANGELOG.md has 0 sections"),
        (NAMED[2], "date-released: 2", "date-released: 1", "CITATION.cff does not have 'date-released: 2"),
        (NAMED[3], 'dynamic = ["version"]', 'version = "1.0.0"', "pyproject.toml has a version of its own"),
    ],
)
def test_what_does_not_agree_is_told(file: str, old: str, new: str, told: str, tmp_path: Path) -> None:
    for name in NAMED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    assert any(line.startswith(told) for line in wrong(tmp_path))


def test_unreleased_comes_first() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_help_has_a_line_for_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)[0].split()
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert [line.split()[0] for line in shown.splitlines()] == targets


def test_the_demo_of_the_release_is_that_of_make() -> None:
    text = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    demo = runpy.run_path(str(ROOT / "tools" / "release_check.py"))["DEMO"]
    assert re.findall(r"bin/bough (\w+)|\$\(BIN\)/bough (\w+)", text) == [
        ("", command[0]) for command in demo
    ]
