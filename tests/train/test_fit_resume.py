"""Claims about a fit that is stopped: with `resume` nothing is lost and nothing changes."""

from pathlib import Path
from typing import Any

import pytest

import bough
from bough.data.labelled import open_labelled
from bough.errors import TrainingError
from bough.train.dataset import Parsed
from bough.train.fit import fit_sources
from bough.train.loop import Event
from bough.train.options import FitOptions
from small_fits import QUICK, examples

FILES = (
    "config.json",
    "vocab.txt",
    "model.safetensors",
    "README.md",
    "fit.json",
    "report.html",
    "metrics.jsonl",
)


class Stop(Exception):
    """A kill."""


def fit(out: Path, **options: Any) -> Any:
    return bough.fit(*examples(40), trees="none", settings=QUICK, epochs=3, out=out, **options)


def test_killed_while_training_or_parsing_it_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    fit(tmp_path / "whole")

    def kill(event: Parsed | Event) -> None:
        if (isinstance(event, Event) and event.epoch == 2) or not (
            tmp_path / "torn" / "checkpoint.safetensors"
        ).exists():
            if isinstance(event, Parsed) and seen:
                return
            seen.append(event)
            raise Stop

    seen: list[Parsed | Event] = []
    for _ in range(2):
        with pytest.raises(Stop):
            fit(tmp_path / "torn", resume=True, callbacks=[kill])
    fit(tmp_path / "torn", resume=True)
    for name in FILES:
        torn, whole = ((tmp_path / run / name).read_bytes() for run in ("torn", "whole"))
        assert torn.replace(b"torn", b"whole") == whole, name  # the report names its folder


def test_a_finished_fit_is_read_again_and_another_is_refused(tmp_path: Path) -> None:
    one = fit(tmp_path)
    again = fit(tmp_path, resume=True)
    assert again("a saw").json() == one("a saw").json()
    with pytest.raises(TrainingError, match="is not empty"):
        fit(tmp_path)
    texts, labels = examples(40)
    with pytest.raises(TrainingError, match="another data"):
        bough.fit(texts, labels[::-1], trees="none", settings=QUICK, epochs=3, out=tmp_path, resume=True)
    with pytest.raises(TrainingError, match="another seed"):
        fit(tmp_path, resume=True, seed=2)


def test_relations_that_changed_are_other_data(tmp_path: Path) -> None:
    def fit_trees(relation: str) -> None:
        columns: dict[str, Any] = {"relations": [relation, "root"]}
        trees = [bough.Tree([1, -1], tokens=[f"n{i}", "is"], **columns) for i in range(20)]
        bough.fit(trees, ["x", "y"] * 10, settings=QUICK, epochs=1, out=tmp_path, resume=True)

    fit_trees("nsubj")
    fit_trees("nsubj")
    with pytest.raises(TrainingError, match="another data"):
        fit_trees("dobj")


def test_labels_inside_trees_that_changed_are_other_data(tmp_path: Path) -> None:
    def fit_trees(label: int) -> None:
        (tmp_path / "a.ptb").write_text("".join(f"({i % 2} ({label} n{i}) (1 is))\n" for i in range(20)))
        sources = {"train": open_labelled(tmp_path / "a.ptb")}
        fit_sources(sources, tmp_path / "m", FitOptions(settings=QUICK, epochs=1), resume=True)

    fit_trees(0)
    fit_trees(0)
    with pytest.raises(TrainingError, match="another data"):
        fit_trees(1)


def test_a_fit_that_failed_before_training_leaves_its_folder_free(tmp_path: Path) -> None:
    texts, labels = examples(20)
    with pytest.raises(ValueError, match="class_weight"):
        bough.fit(texts, labels, out=tmp_path / "out", trees="none", class_weight={"none": 2.0})
    bough.fit(texts, labels, out=tmp_path / "out", trees="none", epochs=1, settings=QUICK)
    assert (tmp_path / "out" / "fit.json").exists()
