"""Claims about pipelines of numbers, several labels, classes of pairs, and trees: they share one form of result."""

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

import bough
from bough.pipelines import PairPipeline, Pipeline
from bough.pipelines.files import score_file
from fitted_pipelines import PLANS, TEXTS, fitted, folder_of


def lines_of(kind: str, source: Path, out: Path) -> list[dict[str, object]]:
    score_file(fitted(kind), source, out)
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_numbers_are_predicted_for_a_text_and_for_its_phrases() -> None:
    result = fitted("numbers")("3 days late")
    assert isinstance(fitted("numbers"), Pipeline)
    assert result.numbers == {"value": result.value}
    assert result.label == f"{result.value:.4g}"
    assert result.probabilities == {}
    assert [node.text for node in result.nodes] == ["3 days late", "3 days", "3"]
    assert result.nodes[0].numbers == pytest.approx(result.numbers)
    plain = json.loads(result.json())
    assert set(plain) == {"text", "numbers", "tokens", "nodes", "sentences"}
    assert plain["nodes"][0].keys() == {"span", "text", "numbers", "children"}
    assert fitted("numbers").predict(["3 days late"]) == pytest.approx([result.value])
    with pytest.raises(ValueError, match="predicts numbers"):
        fitted("numbers").predict_proba(["3 days late"])


def test_the_picture_of_numbers_runs_from_the_smallest_to_the_largest() -> None:
    result = fitted("numbers")("3 days late")
    values = [node.score for node in result.nodes]
    root = ElementTree.fromstring(result.svg())
    levels = {
        int(str(group.get("data-node"))): str(next(iter(group.findall("*[@class]"))).get("class"))
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if group.get("class") == "node"
    }
    assert levels[values.index(min(values))] == "l0"
    assert levels[values.index(max(values))] == "l4"


def test_several_labels_hold_whose_probability_is_above_their_threshold() -> None:
    pipeline = fitted("labels")
    result = pipeline("3 days late")
    limits = dict(zip(pipeline.classes, pipeline.model.output.thresholds, strict=True))
    assert result.labels == [name for name, p in result.probabilities.items() if p > limits[name]]
    assert result.label == (", ".join(result.labels) or "no label")
    assert pipeline.predict(["3 days late"]) == [result.labels]
    assert result.svg().startswith("<svg")
    frame = pytest.importorskip("pandas") and pipeline.frame(["3 days late", None])
    assert list(frame.columns) == ["text", "labels", "p_late", "p_long"]
    assert frame["p_late"].isna().tolist() == [False, True]


def test_classes_of_pairs_have_a_label_and_its_probability() -> None:
    pipeline = fitted("pairs")
    assert isinstance(pipeline, PairPipeline)
    result = pipeline("3 dogs run", "3 men run")
    assert result.score == max(result.probabilities.values()) == result.probabilities[str(result.label)]
    assert pipeline.predict_proba([("3 dogs run", "3 men run")]).tolist()[0] == pytest.approx(
        list(result.probabilities.values()), abs=1e-6
    )
    assert json.loads(result.json()).keys() == {"a", "b", "label", "score", "probabilities"}
    assert list(pipeline.stream([("a dog", " ")], allow_empty=True)) == [None]
    frame = pytest.importorskip("pandas") and pipeline.frame([("3 dogs run", "3 men run"), ("a dog", "")])
    assert frame["label"].fillna("missing").tolist() == [result.label, "missing"]
    with pytest.raises(ValueError, match="nearest needs one that predicts ratings"):
        pipeline.nearest("3 dogs run", ["3 men run"])


@pytest.mark.parametrize("kind", ["numbers", "labels", "pairs"])
def test_a_file_is_scored_and_resumed_whatever_is_predicted(kind: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("a dog\tsome dogs\n\n" if kind == "pairs" else f"{TEXTS[0]}\n\n")
    found = lines_of(kind, source, out)
    own = {"numbers": "numbers", "labels": "labels", "pairs": "label"}[kind]
    assert found[0][own] is not None
    assert found[1][own] is None
    assert score_file(fitted(kind), source, out, resume=True) == 2
    changed = out.read_text().replace(": 0.", ": 7.").replace('"value": ', '"value": 9')
    out.write_text(changed)
    with pytest.raises(ValueError, match="another model or parser"):
        score_file(fitted(kind), source, out, resume=True)


def test_a_model_of_trees_takes_objects_their_json_brackets_and_trees(tmp_path: Path) -> None:
    pipeline = bough.load(folder_of("trees"))
    tree = bough.Tree.from_nested(PLANS[3], children="parts", token="op", numbers=["cost"])
    by_tree = pipeline(tree)
    assert pipeline(PLANS[3]).value == by_tree.value == pipeline(json.dumps(PLANS[3])).value
    assert by_tree.nodes[0].text == "join scan"
    assert pipeline("(join (scan x))").tokens == ("x",)
    with pytest.raises(ValueError, match="fitted on trees; give it a Tree, brackets"):
        pipeline("a sentence")
    with pytest.raises(ValueError, match="fitted on trees; give it a Tree"):
        pipeline([7])
    with pytest.raises(bough.FormatError, match="parts"):
        pipeline({"op": "join", "parts": 7})
    source, out = tmp_path / "new.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps({"id": 1, "plan": PLANS[3]}) + "\n")
    score_file(pipeline, source, out, brief=True)
    assert json.loads(out.read_text()) == {"id": 1, "plan": PLANS[3], "numbers": by_tree.numbers}


def test_evaluation_knows_what_is_predicted() -> None:
    numbers, labels, pairs = (fitted(kind) for kind in ("numbers", "labels", "pairs"))
    assert "mae" in numbers.evaluate(TEXTS[:4], [0.0, 0.5, 1.0, 1.5]).figures
    assert "micro_f1" in labels.evaluate(TEXTS[:2], [["late", "long"], []]).figures
    assert "accuracy" in pairs.evaluate([("a dog", "a cat")], ["other"]).figures
    with pytest.raises(
        ValueError, match="label 0: the label 'cold' is not in the training examples: 'late', 'long'"
    ):
        labels.evaluate(TEXTS[:1], [["cold"]])
    with pytest.raises(ValueError, match="2 examples, 1 labels; one each"):
        pairs.evaluate([("a", "b")] * 2, ["other"])


def test_a_deep_tree_is_scored_and_a_bad_one_is_named_with_its_line(tmp_path: Path) -> None:
    pipeline = bough.load(folder_of("trees"))
    text = '{"op": "sort", "cost": 2.0, "parts": [' * 3000 + '{"op": "scan", "cost": 1.0}' + "]}" * 3000
    source, out = tmp_path / "plans.jsonl", tmp_path / "out.jsonl"
    source.write_text(f'{{"plan": {text}}}\n{{"plan": {{"op": "scan", "cost": "many"}}}}\n')
    with pytest.raises(bough.FormatError, match=r'plans\.jsonl:2: plan: "cost" is \'many\''):
        score_file(pipeline, source, out, brief=True)
    source.write_text(f'{{"plan": {text}}}\n')
    score_file(pipeline, source, out, resume=True, brief=True)
    assert out.read_text().startswith(f'{{"plan": {text}, "numbers": {{')


def test_a_table_on_standard_input_is_read_by_the_columns_of_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = bough.load(folder_of("classes"))
    pipeline.facts = {**pipeline.facts, "text_columns": ["message"]}
    for mark in ",\t":
        table = f"id{mark}message\n7{mark}3 days late\n"
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table.encode())))
        out = tmp_path / f"out{ord(mark)}.jsonl"
        assert score_file(pipeline, "-", out) == 1
        assert json.loads(out.read_text())["message"] == "3 days late"


@pytest.mark.parametrize("device", ["cuda", "nope"])
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_there_is_one_line(device: str) -> None:
    for use in (
        lambda: bough.load("sentiment", device=device),
        lambda: bough.load("sentiment").to(device),
        lambda: bough.fit(["a", "b"], ["x", "y"], device=device),
    ):
        with pytest.raises(ValueError, match=rf"^device {device}: [^\n]+$"):
            use()


def test_columns_that_are_named_win_over_those_of_the_training_file(tmp_path: Path) -> None:
    pipeline = bough.load(folder_of("classes"))
    pipeline.facts = {**pipeline.facts, "text_columns": ["message"]}
    (tmp_path / "in.csv").write_text("message,reply\n3 days late,5 days early\n")
    for text, read in (([], "3 days late"), (["reply"], "5 days early")):
        score_file(pipeline, tmp_path / "in.csv", tmp_path / f"{len(text)}.jsonl", text=text)
        (line,) = (tmp_path / f"{len(text)}.jsonl").read_text().splitlines()
        assert json.loads(line)["nodes"][0]["text"] == read
