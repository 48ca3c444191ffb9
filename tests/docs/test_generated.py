"""What is made from the program is as `make pages` would write it now."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from cyclopts import App

import benchmarks.__main__
import bough.cli
import bundle.cli
import paper.cli

ROOT = Path(__file__).parents[2]


def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    return _tool("pages")


def test_the_command_lines_are_current(pages: ModuleType) -> None:
    assert pages.CLI.read_text() == pages.cli_page()
    assert pages.LABORATORY.read_text() == pages.laboratory_page()


@pytest.mark.parametrize(
    ("app", "program", "least"),
    [
        (bough.cli.build_app(), "bough", 9),
        (paper.cli.build_app(), "python -m paper", 6),
        (bundle.cli.build_app(), "python -m bundle", 5),
        (benchmarks.__main__.build_app(), "python -m benchmarks", 9),
    ],
    ids=["bough", "paper", "bundle", "benchmarks"],
)
def test_every_command_is_on_a_page(pages: ModuleType, app: App, program: str, least: int) -> None:
    text = pages.CLI.read_text() + pages.LABORATORY.read_text()
    names = [name for name in app if not name.startswith("-")]
    assert len(names) >= least
    assert not [name for name in names if f"\n### {program} {name}" not in text]


def test_the_lines_of_the_equations_are_current(pages: ModuleType) -> None:
    assert pages.EQUATIONS.read_text() == pages.equations_page()


def test_every_numbered_equation_of_the_paper_is_mapped(pages: ModuleType) -> None:
    sections = tomllib.loads((pages.ROOT / "tools" / "equations.toml").read_text())["section"]
    numbers = [
        equation["number"] for part in sections for equation in part["equations"] if equation["number"]
    ]
    assert sorted(set(numbers), key=int) == [str(number) for number in range(1, 16)]


def test_an_equation_that_is_not_in_the_code_is_an_error(pages: ModuleType) -> None:
    lost = {"file": "nn/child_sum.py", "method": "ChildSumTreeLSTM.node", "code": "no such line"}
    with pytest.raises(ValueError, match=r"'no such line' is not in ChildSumTreeLSTM\.node; mend"):
        pages._code_of(lost)


def test_the_picture_of_a_tree_is_current(pages: ModuleType) -> None:
    assert pages.TREE.read_text(encoding="utf-8") == pages.tree_picture()


def test_the_picture_shows_what_the_commands_print(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letter by letter: how rich lays out an SVG is up to its version. Nothing in it is fetched."""
    pictures = _tool("pictures")
    drawn = pictures.TERMINAL.read_text()
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    assert _letters(drawn) == _letters(pictures.terminal_picture())
    assert "url(http" not in drawn


def _letters(svg: str) -> str:
    texts = re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)
    return "".join("".join(texts).replace("&#160;", " ").split())
