"""Claims about the examples as a whole: each is short, each is run by a test, and the notebook draws what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURES = 6  # the cells of the notebook that end with something to see


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short_and_has_a_test(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80
    assert f'"{path.stem}' in Path(__file__).with_name("test_examples.py").read_text(encoding="utf-8")


def test_a_notebook_is_committed_without_its_outputs() -> None:
    for path in EXAMPLES.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


@pytest.mark.filterwarnings("default")  # of Jupyter's own
def test_the_notebook_runs_and_draws() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "trees.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [
        output["data"]["image/svg+xml"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "execute_result"
    ]
    assert len(shown) == PICTURES
    assert all(picture.startswith("<svg") and 'class="node"' in picture for picture in shown)
