"""Claims about the tables of docs/results.md and the README's line: they are what the results say."""

import json
from pathlib import Path

import pytest

from minruns import system
from paper.readme import MADE, made, made_before, markers, update_readme
from paper.results import summary

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


def test_the_block_has_the_means_the_papers_and_the_vectors() -> None:
    block = made("results", summary(FOUND))
    assert "| Dependency Tree-LSTM | 0.8690 (0.0014, n 2) | 0.8676 | 0.2500 (0.0000, n 2) | 0.2532 |" in block
    assert "| Dependency Tree-LSTM | 48.5 (0.7, n 2) | 48.4 | missing | 85.7 |" in block
    assert "with glove.840B.300d" in block
    assert "with glove.6B.300d" in block


def test_only_what_is_between_the_markers_changes(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")
    for _ in range(2):
        update_readme(path, summary(FOUND))
        assert path.read_text() == f"# Mine\n\n{BEGIN}{made('results', summary(FOUND))}{END}\n\nAfter.\n"


@pytest.mark.parametrize("text", [f"# Mine\n{END}\n{BEGIN}\n", "# Mine\n", f"{markers('encoder')[0]} torn"])
def test_a_readme_without_markers_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"README\.md: no place for the results"):
        update_readme(path, summary(FOUND))
    assert path.read_text() == text


def test_a_file_gets_what_it_has_markers_for(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("r is {}old{}.\n".format(*markers("headline")))
    update_readme(path, summary(FOUND))
    line = "0.8690 (0.0014, n 2) with glove.840B.300d (the paper has 0.8676)"
    assert path.read_text() == f"r is {markers('headline')[0]}{line}{markers('headline')[1]}.\n"
    path.write_text("\n".join("".join(markers(name)) for name in MADE))
    update_readme(path, summary(FOUND))
    blocks = [made(name, summary(FOUND)).join(markers(name)) for name in MADE]
    assert path.read_text() == "\n".join(blocks)


def test_a_system_that_was_not_run_is_said_to_be_missing() -> None:
    assert made("headline", summary({})) == "not run yet (the paper has 0.8676)"
    assert made("leaves", summary(FOUND)) == "not run yet"


def test_pages_and_results_agree() -> None:
    stored = ROOT / "paper" / "results" / "results.json"
    if not stored.exists():
        pytest.skip("needs paper/results/results.json: run `python -m paper reproduce all`")
    results = json.loads(stored.read_text())
    for page, names in {
        "docs/results.md": ("results", "beyond"),
        "README.md": ("headline", "leaves"),
    }.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in names:
            assert made_before(text, name, page) == made(name, results)
