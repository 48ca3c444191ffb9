"""Claims about the README's table: it is what the results say."""

import json
from pathlib import Path

import pytest

from bough.reproduce.readme import BEGIN, END, block_of, readme_block, update_readme
from bough.reproduce.results import summary
from minruns import system

ROOT = Path(__file__).parents[2]
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


def test_the_block_has_the_means_the_papers_and_the_vectors() -> None:
    block = readme_block(summary(FOUND))
    assert "| Dependency Tree-LSTM | 0.8690 (0.0014, n 2) | 0.8676 | 0.2500 (0.0000, n 2) | 0.2532 |" in block
    assert "| Dependency Tree-LSTM | 48.5 (0.7, n 2) | 48.4 | missing | 85.7 |" in block
    assert "with glove.840B.300d" in block
    assert "with glove.6B.300d" in block
    assert block.startswith(BEGIN)
    assert block.endswith(END)


def test_only_what_is_between_the_markers_changes(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")
    for _ in range(2):
        update_readme(path, summary(FOUND))
        assert path.read_text() == f"# Mine\n\n{readme_block(summary(FOUND))}\n\nAfter.\n"


def test_a_readme_without_markers_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"# Mine\n{END}\n{BEGIN}\n")
    with pytest.raises(ValueError, match=r"README\.md: no place for the results"):
        update_readme(path, summary(FOUND))
    assert path.read_text() == f"# Mine\n{END}\n{BEGIN}\n"


def test_readme_and_results_agree() -> None:
    results = ROOT / "results" / "results.json"
    if not results.exists():
        pytest.skip("needs results/results.json: run `bough reproduce all`")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert block_of(text, "README.md") == readme_block(json.loads(results.read_text()))
