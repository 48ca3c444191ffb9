"""Claims about the tables of docs/results.md and the README's table: they are what the results say."""

import json
import re
from pathlib import Path

import pytest

from minruns import system
from paper.report import filled, markers, update_readme
from paper.results import System, summary

ROOT = Path(__file__).parents[3]
FOUND = {
    "sick-dependency": system(
        "sick-dependency",
        vectors="glove.840B.300d",
        pearson=[0.868, 0.870],
        spearman=[0.8, 0.8],
        mse=[0.25, 0.25],
    ),
    "sst5-dependency": system("sst5-dependency", accuracy=[0.48, 0.49], binary=[0.85, 0.86]),
}


BEGIN, END = markers("results")
HEADLINE = """

| test split | Dependency Tree-LSTM | paper | Constituency Tree-LSTM | paper |
| --- | --- | --- | --- | --- |
| SST, five classes, accuracy in % | 48.5 (0.7, n 2) | 48.4 (0.4) | missing | 51.0 (0.5) |
| SST, two classes, accuracy in % | missing | 85.7 (0.4) | missing | 88.0 (0.3) |
| SICK, Pearson's r | 0.8690 (0.0014, n 2) | 0.8676 (0.0030) | missing | 0.8582 (0.0038) |
| SICK, Spearman's rho | 0.8000 (0.0000, n 2) | 0.8083 (0.0042) | missing | 0.7966 (0.0053) |
| SICK, mean squared error | 0.2500 (0.0000, n 2) | 0.2532 (0.0052) | missing | 0.2734 (0.0108) |

"""


def test_the_block_has_the_means_the_papers_and_the_vectors() -> None:
    block = filled(BEGIN + END, summary(FOUND)) or ""
    assert (
        "| Dependency Tree-LSTM | 0.8690 (0.0014, n 2) | 0.8676 (0.0030) | 0.8000 (0.0000, n 2) | 0.8083 (0.0042) "
        "| 0.2500 (0.0000, n 2) | 0.2532 (0.0052) |" in block
    )
    assert "| Dependency Tree-LSTM | 48.5 (0.7, n 2) | 48.4 (0.4) | missing | 85.7 (0.4) |" in block
    assert "with glove.840B.300d" in block
    assert "with glove.6B.300d" in block


def test_only_what_is_between_the_markers_changes(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")
    update_readme(path, summary(FOUND))
    once = path.read_text()
    assert once.startswith(f"# Mine\n\n{BEGIN}\n\nTest figures: ours")
    assert once.endswith(f"{END}\n\nAfter.\n")
    update_readme(path, summary(FOUND))
    assert path.read_text() == once


@pytest.mark.parametrize("text", [f"# Mine\n{END}\n{BEGIN}\n", "# Mine\n", f"{markers('encoder')[0]} torn"])
def test_a_readme_without_markers_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"README\.md: no place for the results"):
        update_readme(path, summary(FOUND))
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "found", "line"),
    [
        ("headline", FOUND, HEADLINE),
        ("headline", {}, re.sub(r"[\d.]+ \([\d.]+, n 2\)", "missing", HEADLINE)),
        ("leaves", FOUND, "not run yet"),
        ("parser-line", FOUND, "not run yet"),
    ],
)
def test_a_file_gets_what_it_has_markers_for(name: str, found: dict[str, System], line: str) -> None:
    page = "r is {}old{}.\n".format(*markers(name))
    assert filled(page, summary(found)) == page.replace("old", line)


def test_pages_and_results_agree() -> None:
    stored = ROOT / "paper" / "results" / "results.json"
    if not stored.exists():
        pytest.skip("needs paper/results/results.json: run `python -m paper reproduce all`")
    for page in ("docs/results.md", "docs/reproduction.md", "README.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert filled(text, json.loads(stored.read_text())) == text
