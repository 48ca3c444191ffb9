"""The claim of docs/fitting.md, on the real questions."""

from pathlib import Path

import pytest

from bough.data.labelled import open_labelled
from bough.train.fit import fit_sources
from bough.train.options import FitOptions


@pytest.mark.slow
def test_questions_are_told_apart_by_the_defaults(data: Path, tmp_path: Path) -> None:
    if not (data / "trec").is_dir():
        pytest.skip("needs the TREC questions in the data folder")
    sources = {split: open_labelled(data / "trec" / f"{split}.csv") for split in ("train", "test")}
    _, outcome = fit_sources(sources, tmp_path / "out", FitOptions(data=data))
    accuracy = outcome["scores"]["test"]["figures"]["accuracy"]
    assert accuracy > 0.92
    assert accuracy > outcome["baseline"]["figures"]["test"]["accuracy"] + 0.03  # it has 0.888
    assert outcome["calibration"]["dev"]["after"] < outcome["calibration"]["dev"]["before"]
