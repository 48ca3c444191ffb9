"""Claims about a fit that is stopped: with `resume` nothing is lost and nothing changes."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import bough
from bough.data.labelled import open_labelled
from bough.errors import FormatError, TrainingError
from bough.files import read_tensors_and_metadata, write_tensors
from bough.train.dataset import Parsed
from bough.train.fit import fit_sources
from bough.train.loop import Event
from bough.train.options import FitOptions
from small_fits import QUICK, examples, write_csv

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


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a fit that was stopped after its first epoch."""
    out = tmp_path_factory.mktemp("stopped")

    def kill(event: Parsed | Event) -> None:
        if isinstance(event, Event) and event.epoch == 1 and event.dev is not None:
            raise Stop

    with pytest.raises(Stop):
        fit(out, callbacks=[kill])
    return out


Damage = Callable[[dict[str, torch.Tensor], dict[str, str]], Any]


def progress(**changes: Any) -> Damage:
    """What changes the numbers in a checkpoint."""

    def change(_: Any, metadata: dict[str, str]) -> None:
        metadata["progress"] = json.dumps({**json.loads(metadata["progress"]), **changes})

    return change


PCG = {"bit_generator": "PCG64", "state": {"state": -1, "inc": 0}, "has_uint32": 0, "uinteger": 0}
DAMAGES: dict[str, Damage] = {
    "no object": lambda _, metadata: metadata.update(progress="[]"),
    "too deep": lambda _, metadata: metadata.update(progress="[" * 100_000),
    "epoch below 0": progress(epoch=-1, history=[]),
    "epoch after the history": progress(epoch=2),
    "epoch that is a text": progress(epoch="1"),
    "history of texts": progress(history=["one"]),
    "best epoch below 1": progress(best_epoch=-1),
    "no history": progress(history=None),
    "no rng": progress(rng=None),
    "another rng": progress(rng={"bit_generator": "MT19937", "state": {}}),
    "rng below 0": progress(rng=PCG),
    "short rng of torch": lambda tensors, _: tensors.update(torch_rng=torch.zeros(3)),
    "NaN": lambda tensors, _: tensors["model.head.b_s"].fill_(torch.nan),
    "infinity": lambda tensors, _: tensors["best.head.b_s"].fill_(torch.inf),
    "not all weights": lambda tensors, _: tensors.pop("best.head.b_s"),
    "other shape": lambda tensors, _: tensors.update({"best.head.b_s": torch.zeros(7)}),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_checkpoint_that_no_fit_wrote_is_refused(damage: Damage, stopped: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(stopped, tmp_path / "run"))
    tensors, metadata = read_tensors_and_metadata(out / "checkpoint.safetensors")
    damage(tensors, metadata)
    write_tensors(out / "checkpoint.safetensors", tensors, metadata)
    way = r"another run or version of bough \(.*\); train anew in another folder"
    with pytest.raises(FormatError, match=way):
        fit(out, resume=True)


@pytest.mark.parametrize("resume", [True, False])
def test_a_second_fit_into_a_folder_in_use_is_refused_and_changes_nothing(
    resume: bool, tmp_path: Path
) -> None:
    refused = list[str]()

    def fit_again(event: Parsed | Event) -> None:
        with pytest.raises(TrainingError) as error:
            fit(tmp_path / "mine", resume=resume)
        refused.append(str(error.value))

    fit(tmp_path / "mine", callbacks=[fit_again])
    assert {line.partition("mine ")[2] for line in refused} == {
        "is being written by another run; wait for it, or choose another folder"
    }
    fit(tmp_path / "whole")
    for name in ("model.safetensors", "fit.json"):
        assert (tmp_path / "mine" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_report_is_the_same_on_another_day(tmp_path: Path) -> None:
    fit(tmp_path / "mine")
    page = (tmp_path / "mine" / "report.html").read_text()
    assert not re.search(r"\d{4}-\d\d-\d\d", page)


def test_labels_and_names_of_files_are_no_markup_in_the_card(tmp_path: Path) -> None:
    texts, labels = examples(20)
    hostile = {"fruit": "<script>a</script>\n\n# *b* | `c`", "tool": "snake_case"}
    file = write_csv(tmp_path / "a_<b>.csv", zip(texts, map(hostile.get, labels), strict=True))
    bough.fit(file, trees="none", settings=QUICK, epochs=1, out=tmp_path / "mine")
    card = (tmp_path / "mine" / "README.md").read_text()
    title = r"# 2 classes: '\<script\>a\</script\>\\n\\n\# \*b\* \| \`c\`', 'snake\_case'"
    assert card.splitlines()[0] == title
    assert r"a\_\<b\>.csv" in card
    assert not re.search(r"(?<!\\)<", card)
