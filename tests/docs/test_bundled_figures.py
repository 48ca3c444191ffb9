"""The README's figures of the bundled models are those of their cards, and none is of a development set."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIGURE = re.compile(r"\d+\.\d+")
DEVELOPED = re.compile(r"\| development set: .*?\n\n", re.DOTALL)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("sentiment", r"The bundled sentiment model.*?(?=The relatedness model)"),
        ("relatedness", r"The relatedness model.*?(?=\n\n)"),
    ],
)
def test_figures_in_the_readme_stand_in_the_card(name: str, told: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    card = (ROOT / "src/bough/pretrained" / name / "README.md").read_text(encoding="utf-8")
    found = re.search(told, readme, re.DOTALL)
    assert found is not None
    known = set(FIGURE.findall(DEVELOPED.sub("", card)))
    known |= {f"{100 * float(share):.1f}" for share in known} | {f"{float(share):.3f}" for share in known}
    figures = FIGURE.findall(found.group())
    assert len(figures) >= 3
    assert [figure for figure in figures if figure not in known] == []
