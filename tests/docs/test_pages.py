"""The pages are true where a test can tell: what they name is there, and the house is the one that stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bough.nn import Edges
from test_house import ROOMS, SOURCE

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]


@every_page
def test_files_of_code_are_where_a_page_says(page: Path) -> None:
    """A path has a folder in it; `x.py` alone may be the reader's own, or beside a file named before it."""
    named = re.findall(r"`([\w./]+/[\w.]+\.(?:py|c|h|toml))`", page.read_text())
    assert not [path for path in named if not ((SOURCE / path).exists() or (ROOT / path).exists())]


def test_the_table_of_rooms_is_the_house() -> None:
    table = re.findall(r"^\| (`.*?`) \|", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE)
    told = [{name.removesuffix(".py") for name in re.findall(r"`(\w[\w.]*?)/?`", row)} for row in table]
    stands = [{room for room in rooms if _stands(room)} - {"__main__"} for rooms in ROOMS]
    assert told == [rooms for rooms in stands if rooms] + [{"weights"}]


def _stands(room: str) -> bool:
    return (SOURCE / room).exists() or (SOURCE / f"{room}.py").exists()


def test_the_page_on_layers_has_all_that_below_has() -> None:
    text = (ROOT / "docs" / "layers.md").read_text()
    methods = {name for name in vars(Edges) if not name.startswith("_")} | {"states", "nodes"}
    assert methods == set(re.findall(r"^\| `below\.(\w+)", text, re.MULTILINE))
