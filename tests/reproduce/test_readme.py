"""Claims about the tables of docs/results.md and the README's line: they are what the results say."""

import json
from pathlib import Path

import pytest

from bough.reproduce.readme import (
    BEGIN,
    BEYOND_BEGIN,
    BEYOND_END,
    END,
    LINE_BEGIN,
    LINE_END,
    beyond_block,
    block_of,
    readme_block,
    results_line,
    update_readme,
)
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


def test_a_file_with_both_markers_gets_both_and_one_with_one_gets_that(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"r is {LINE_BEGIN}old{LINE_END}.\n")
    update_readme(path, summary(FOUND))
    line = "0.8690 (0.0014, n 2) with glove.840B.300d (the paper has 0.8676)"
    assert path.read_text() == f"r is {LINE_BEGIN}{line}{LINE_END}.\n"
    path.write_text(f"{LINE_BEGIN}{LINE_END}\n{BEGIN}{END}\n")
    update_readme(path, summary(FOUND))
    assert path.read_text() == f"{results_line(summary(FOUND))}\n{readme_block(summary(FOUND))}\n"


def test_a_system_that_was_not_run_is_said_to_be_missing() -> None:
    assert "not run yet (the paper has 0.8676)" in results_line(summary({}))


def test_pages_and_results_agree() -> None:
    stored = ROOT / "results" / "results.json"
    if not stored.exists():
        pytest.skip("needs results/results.json: run `bough reproduce all`")
    results = json.loads(stored.read_text())
    tables = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert block_of(tables, "docs/results.md") == readme_block(results)
    assert block_of(tables, "docs/results.md", (BEYOND_BEGIN, BEYOND_END)) == beyond_block(results)
    line = (ROOT / "README.md").read_text(encoding="utf-8")
    assert block_of(line, "README.md", (LINE_BEGIN, LINE_END)) == results_line(results)
