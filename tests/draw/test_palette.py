"""Claim about colours and class names: each is written down once, and the page takes them from there."""

import re
from pathlib import Path

import pytest

import bough
from bough.draw.palette import COLOURS, LEVELS, ON, SIGNS, variables
from bough.outputs.classes import SENTIMENT

SOURCE = Path(bough.__file__).parent
PAGE = [path for path in (SOURCE / "serve" / "page").iterdir() if path.suffix in (".css", ".js", ".html")]
CODE = [path for package in ("cli", "draw", "pipelines", "serve") for path in (SOURCE / package).glob("*.py")]


@pytest.mark.parametrize("path", [*CODE, *PAGE], ids=lambda path: path.name)
def test_no_other_file_has_a_colour_or_a_name_of_a_class(path: Path) -> None:
    text = path.read_text()
    if path.name != "palette.py":
        assert not [colour for colour in COLOURS if colour in text]
    assert "very negative" not in text


def test_every_class_has_a_level_and_a_level_a_colour_and_a_sign() -> None:
    assert len(COLOURS) == len(SIGNS) == len(ON) == 5
    assert len(SENTIMENT) in LEVELS
    for classes, levels in LEVELS.items():
        assert len(levels) == classes
        assert set(levels) <= set(range(5))


def test_the_page_has_a_variable_for_every_level() -> None:
    light, dark = variables().split("@media")
    assert re.findall(r"--c\d:(#\w+)", light) == list(COLOURS)
    assert re.findall(r"--(c\d):", dark) == ["c2"]
