"""Claims that hold for every registered output, for single texts and for pairs."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.outputs import outputs, read_output
from bough.train.evaluate import evaluate_file
from small_fits import QUICK

COUNT = 48
WORDS = ("bad", "fair", "good")
LABELS: dict[str, list[Any]] = {
    "classes": [WORDS[number % 3] for number in range(COUNT)],
    "labels": [[WORDS[number % 3], "even"][: 2 - number % 2] for number in range(COUNT)],
    "numbers": [float(number % 3) + 0.5 for number in range(COUNT)],
    "ratings": [1.0 + 2 * (number % 3) for number in range(COUNT)],
    "ordinal": [1 + number % 3 for number in range(COUNT)],
}
WRONG: dict[str, Any] = {
    "classes": "new",
    "labels": ["new"],
    "numbers": "x",
    "ratings": "x",
    "ordinal": "new",
}
CASES = [(kind, pairs) for kind in outputs() for pairs in (False, True)]
every_output = pytest.mark.parametrize(("kind", "pairs"), CASES)


def items(pairs: bool) -> list[Any]:
    texts = [f"a {WORDS[number % 3]} thing {number}" for number in range(COUNT)]
    return [(text, "a thing") for text in texts] if pairs else texts


@cache
def fitted(kind: str, pairs: bool, weighted: bool = False) -> tuple[Any, list[float]]:
    """Return a fitted pipeline, and the training losses of its epochs."""
    losses: dict[int, float] = {}

    def record(event: Any) -> None:
        if getattr(event, "dev", None):
            losses[event.epoch] = event.loss

    quick = {**QUICK, "optimizer": "adamw", "learning_rate": 0.03}
    if pairs:
        del quick["recurrent_dropout"]
    options: dict[str, Any] = {"trees": "none", "settings": quick, "epochs": 8, "init_from": "none"}
    if weighted:
        options["sample_weight"] = [float(number % 3 == 0) for number in range(COUNT)]
    mine = bough.fit(
        items(pairs),
        LABELS[kind],
        task=kind,
        callbacks=[record],
        **options,
    )
    return mine, list(losses.values())


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("ERROR")


@every_output
def test_loss_falls(kind: str, pairs: bool) -> None:
    losses = fitted(kind, pairs)[1]
    assert losses[-1] < losses[0]


@every_output
def test_output_survives_config_json(kind: str, pairs: bool) -> None:
    output = fitted(kind, pairs)[0].model.output
    assert (output.kind, output.pairs) == (kind, pairs)
    assert read_output(json.loads(json.dumps(output.as_dict()))) == output


@every_output
def test_saved_model_predicts_the_same(kind: str, pairs: bool, tmp_path: Path) -> None:
    mine = fitted(kind, pairs)[0]
    mine.save(tmp_path / "model")
    again = bough.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predictions(items(pairs)), mine.predictions(items(pairs)))


@every_output
def test_sample_weights_count(kind: str, pairs: bool) -> None:
    plain, weighted = fitted(kind, pairs)[0], fitted(kind, pairs, weighted=True)[0]
    assert not np.allclose(plain.predictions(items(pairs)), weighted.predictions(items(pairs)), atol=1e-3)


@every_output
def test_decision_is_the_same_everywhere(kind: str, pairs: bool) -> None:
    mine = fitted(kind, pairs)[0]
    output, predicted = mine.model.output, mine.predictions(items(pairs))
    decisions = output.decide(predicted)
    assert mine.predict(items(pairs)) == decisions
    for result, decision, row in zip(mine.stream(items(pairs)), decisions, predicted, strict=True):
        value = result.outcome[output.result]
        value = next(iter(value.values())) if isinstance(value, dict) else value
        assert value == pytest.approx(decision) if isinstance(value, float) else value == decision
        assert list(result.outcome) == list(output.keys)
        assert output.decide(row[None]) == [decision]
    if output.exclusive:
        chosen = mine.predict_proba(items(pairs)).argmax(axis=1)
        assert [output.classes[number] for number in chosen] == decisions


@every_output
def test_metrics_of_a_file_are_those_of_its_predictions(kind: str, pairs: bool, tmp_path: Path) -> None:
    mine = fitted(kind, pairs)[0]
    mine.save(tmp_path / "model")
    rows = [
        {**({"a": item[0], "b": item[1]} if pairs else {"text": item}), "label": label}
        for item, label in zip(items(pairs), LABELS[kind], strict=True)
    ]
    file = tmp_path / "new.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = evaluate_file(tmp_path / "model", file)
    assert report.figures == mine.evaluate(items(pairs), LABELS[kind]).figures
    assert report.figures.keys() == report.titles.keys() - {
        name for name in report.titles if name.startswith("q_error") or (kind == "numbers" and name == "loss")
    }


@every_output
def test_wrong_label_is_named_with_its_line(kind: str, pairs: bool) -> None:
    labels = [*LABELS[kind][:-1], WRONG[kind]]
    with pytest.raises(ValueError, match=rf"label {COUNT - 1}: the (label|rating) '(new|x)' is not"):
        fitted(kind, pairs)[0].evaluate(items(pairs), labels)


@pytest.mark.parametrize("pairs", [False, True])
def test_class_weights_move_the_decisions(pairs: bool) -> None:
    labels = ["rare" if number % 4 == 0 else "common" for number in range(COUNT)]
    settings = {key: value for key, value in QUICK.items() if key != "recurrent_dropout" or not pairs}
    options: dict[str, Any] = {"trees": "none", "settings": settings, "epochs": 3, "init_from": "none"}
    plain, weighted = (
        bough.fit(items(pairs), labels, class_weight=weight, **options) for weight in (None, {"rare": 20.0})
    )
    counts = [mine.predict(items(pairs)).count("rare") for mine in (plain, weighted)]
    assert counts[1] > counts[0]


def test_distribution_is_a_label_of_classes(tmp_path: Path) -> None:
    soft = [{"good": 0.75, "bad": 0.25} if number % 2 else "bad" for number in range(COUNT)]
    texts = [f"a {('bad', 'good')[number % 2]} thing {number}" for number in range(COUNT)]
    settings = {**QUICK, "optimizer": "adamw", "learning_rate": 0.03}
    mine = bough.fit(
        texts, soft, task="classes", trees="none", settings=settings, epochs=12, init_from="none"
    )
    assert mine.classes == ("bad", "good")
    assert mine("a good thing 3").probabilities["good"] == pytest.approx(0.75, abs=0.15)
    assert mine.evaluate(texts, soft).figures["accuracy"] == 1.0
