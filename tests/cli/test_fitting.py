"""Claims about `bough fit`: three commands from a file to a scored sentence, and one line for what is wrong."""

import json
from pathlib import Path

import pytest

from cli_calls import bough
from small_fits import QUICK, examples, write_csv

SETTINGS = [part for key, value in QUICK.items() for part in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("fit")
    rows = zip(*examples(60), strict=True)
    file = write_csv(home / "things.csv", rows)
    done = bough(
        "fit", str(file), "--out", str(home / "model"), "--trees", "none", "--epochs", "5", *SETTINGS
    )
    assert done.returncode == 0, done.stderr
    assert "stratified by class" in done.stderr
    for shown in ("accuracy", "bag of words", "ECE before temperature scaling", "fruit", "true \\ predicted"):
        assert shown in done.stdout
    return home


def test_a_fitted_model_scores_evaluates_and_has_a_report(folder: Path) -> None:
    model = str(folder / "model")
    (folder / "new.txt").write_text("A sharp saw .\nA ripe fig .\n")
    scored = bough("score", str(folder / "new.txt"), "--model", model, "--brief")
    lines = [json.loads(line) for line in scored.stdout.splitlines()]
    assert [line["label"] for line in lines] == ["tool", "fruit"]
    report = (folder / "model" / "report.html").read_text()
    assert "<svg" in report
    assert "fruit" in report
    judged = bough("evaluate", model, str(folder / "things.csv"), "--json")
    assert json.loads(judged.stdout)["accuracy"] > 0.9
    shown = bough("sentiment", "A ripe fig .", "--model", model)
    assert "fruit (" in shown.stdout


def test_what_is_wrong_is_one_line(folder: Path) -> None:
    file = str(folder / "things.csv")
    for arguments, message in [
        (("--label", "kind"), "no column 'kind'"),
        (("--epochs", "many"), "--epochs many: a number, or auto"),
        (("--out", str(folder / "model")), "is not empty; continue it with --resume"),
        (("--recipe", "fit-text"), "did you mean 'fit-texts'?"),
    ]:
        done = bough("fit", file, *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr
