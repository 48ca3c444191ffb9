"""Claims about `bough fit`: three commands from a file to a scored sentence, and one line for what is wrong."""

import json
from pathlib import Path

import pytest

from bough import load
from cli_calls import bough_here as bough
from fitted_pipelines import PLANS, fitted, folder_of
from small_fits import QUICK, examples, write_csv

SETTINGS = [part for key, value in QUICK.items() for part in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("fit")
    rows = zip(*examples(60), strict=True)
    file = write_csv(home / "things.csv", rows)
    done = bough(
        *("fit", str(file), "--out", str(home / "model"), "--trees", "none", "--epochs", "5"),
        *(*SETTINGS, "--batch-size", "6", "--learning-rate", "0.06"),
    )
    assert done.returncode == 0, done.stderr
    assert "stratified by class" in done.stderr
    for shown in (
        "accuracy",
        "logistic regression on TF-IDF",
        "ECE before temperature scaling",
        "fruit",
        "true \\ predicted",
    ):
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
    shown = bough("predict", "A ripe fig .", "--model", model)
    assert "fruit (" in shown.stdout


def test_options_override_the_recipe(folder: Path) -> None:
    config = json.loads((folder / "model" / "run.json").read_text())["config"]
    assert (config["batch_size"], config["learning_rate"]) == (6, 0.06)


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("numbers", ["3 days late"]),
        ("labels", ["3 days late"]),
        ("pairs", ["3 dogs run", "3 men run"]),
        ("trees", [json.dumps(PLANS[3])]),
    ],
)
def test_a_model_of_any_kind_predicts(kind: str, texts: list[str]) -> None:
    folder, pipeline = str(folder_of(kind)), fitted(kind)
    result = pipeline(*texts)
    shown = bough("predict", *texts, "--model", folder)
    assert shown.returncode == 0, shown.stderr
    assert result.label in shown.stdout
    plain = json.loads(bough("predict", *texts, "--model", folder, "--json").stdout)
    assert plain == json.loads(result.json())


def test_trees_may_have_relations_and_numbers_of_edges(tmp_path: Path) -> None:
    rows = [
        {"tree": {"op": "a", "children": [{"op": "b", "side": "left", "length": n / 3}]}} for n in range(40)
    ]
    (tmp_path / "trees.jsonl").write_text(
        "".join(json.dumps(row | {"y": n / 3}) + "\n" for n, row in enumerate(rows))
    )
    keys = ("--tree", "tree", "--token", "op", "--relation", "side", "--edge-number", "length")
    out = ("--out", str(tmp_path / "model"), "--epochs", "1", *SETTINGS)
    done = bough("fit", str(tmp_path / "trees.jsonl"), *keys, *out)
    assert done.returncode == 0, done.stderr
    columns = load(tmp_path / "model").facts["tree_columns"]
    assert (columns["relation"], list(columns["edge_numbers"])) == ("side", ["length"])


def test_evaluate_without_a_file_says_what_to_type() -> None:
    done = bough("evaluate", "models/tickets-1")
    assert done.returncode == 2
    assert "use bough evaluate models/tickets-1 FILE" in done.stderr


def test_a_message_about_numbers_says_what_to_type(tmp_path: Path) -> None:
    texts, _ = examples(60)
    numbers = write_csv(tmp_path / "numbers.csv", [(text, n / 7) for n, text in enumerate(texts)])
    fitted = bough(
        "fit", str(numbers), "--out", str(tmp_path / "a"), "--trees", "none", "--epochs", "1", *SETTINGS
    )
    assert "--task classes makes them classes" in fitted.stderr
    names = write_csv(tmp_path / "names.csv", [(text, text) for text in texts])
    refused = bough("fit", str(names), "--out", str(tmp_path / "b"))
    assert "--task numbers" in refused.stderr


def test_what_is_wrong_is_one_line(folder: Path) -> None:
    file = str(folder / "things.csv")
    for arguments, message in [
        (("--label", "kind"), "no column 'kind'"),
        (("--epochs", "many"), "epochs many: must be a positive number or auto"),
        (("--out", str(folder / "model")), "is not empty; resume the run"),
        (("--recipe", "fit-text"), "did you mean 'fit-texts'?"),
        (("--relation", "side"), "need a column of trees; name it with --tree"),
        ((), "which column is the text? name it; the columns are 'No.', 'asked', 'desk'; use --text COLUMN"),
    ]:
        if not arguments:
            file = str(write_csv(folder / "odd.csv", [("1", "why", "a")], ("No.", "asked", "desk")))
        done = bough("fit", file, *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr
