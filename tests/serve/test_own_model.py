"""Claims about a page with a user's own model: it shows its classes, labels, numbers or trees, and its card."""

import json
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.draw.palette import COLOURS
from bough.outputs.classes import SENTIMENT
from bough.serve.app import create_app
from bough.serve.assets import generated_assets
from bough.serve.models import Models
from bough.serve.schemas import OneText, Picture, Prediction, Two
from browser import CHROMIUM, FLAGS, needs_chromium
from fitted_pipelines import PLANS, folder_of
from servers import running
from small_fits import QUICK, examples
from waiting import LIMIT


def answers(models: Models, *jobs: Any) -> list[dict[str, Any]]:
    outcomes = models.compute(jobs)
    assert all(isinstance(outcome, bytes) for outcome in outcomes), outcomes
    return [json.loads(outcome) for outcome in outcomes if isinstance(outcome, bytes)]


def test_a_fitted_model_stands_in_for_sentiment(tmp_path: Path) -> None:
    """The page and the description of the API have its classes, its examples and its card."""
    folder = tmp_path / "things"
    bough.fit(*examples(20), trees="none", settings=QUICK, epochs=1).save(folder)
    models = Models(str(folder))
    told = generated_assets(models)["classes.js"][0]
    assert 'CLASSES = ["fruit", "tool"]' in told
    assert 'SIGNS = ["fr", "to"]' in told
    assert "LEVELS = [5, 6]" in told
    assert "RATINGS = [1.0, 5.0]" in told
    assert 'OWN = "things"' in told
    assert 'EXAMPLES = ["' in told
    assert "# 2 classes: 'fruit', 'tool'" in told
    shapes = create_app(models).openapi()["components"]["schemas"]
    assert shapes["Prediction"]["properties"]["label"]["enum"] == ["fruit", "tool"]
    scored, drawn = answers(models, OneText(text="A ripe fig ."), Picture(text="A saw ."))
    assert scored["label"] in ("fruit", "tool")
    levels = (len(COLOURS), len(COLOURS) + 1)
    assert any(f'class="l{level}"' in drawn["svg"] for level in levels)


def test_the_models_are_loaded_on_the_device() -> None:
    with pytest.raises(ValueError, match=r"^device nope: "):
        Models(device="nope")


def test_a_model_of_pairs_stands_in_for_relatedness_and_searches(tmp_path: Path) -> None:
    pairs = [(f"the dog {n}", f"a cat {n}") for n in range(20)]
    bough.fit(pairs, [float(n % 5) for n in range(20)], settings=QUICK, epochs=1).save(tmp_path)
    models = Models(str(tmp_path))
    assert models.related_by == str(tmp_path)
    assert models.related.model.output.ends == (0.0, 4.0)
    assert models.predictor.model.output.classes == SENTIMENT


@pytest.mark.parametrize(
    ("kind", "keys"), [("numbers", {"numbers"}), ("labels", {"labels", "probabilities"})]
)
def test_numbers_and_several_labels_are_drawn_and_described(kind: str, keys: set[str]) -> None:
    models = Models(str(folder_of(kind)))
    scored, drawn = answers(models, OneText(text="3 days late"), Picture(text="3 days late"))
    Prediction.model_validate(scored)
    assert scored.keys() == {"text", "tokens", "nodes", "sentences"} | keys
    assert drawn["result"]["nodes"][0].keys() == {"span", "text", "children"} | keys
    assert drawn["svg"].count("data-node") == 3
    shape = create_app(models).openapi()["components"]["schemas"]["Prediction"]
    assert shape["properties"].keys() & {"label", "score", "labels", "probabilities", "numbers"} == keys
    assert keys <= {*shape["required"]}


def test_classes_of_pairs_take_the_place_of_ratings() -> None:
    models = Models(str(folder_of("pairs")))
    (scored,) = answers(models, Two(a="3 dogs run", b="3 men run"))
    assert scored["label"] in ("other", "same")
    assert models.related_by == "relatedness"  # a search needs ratings
    told = generated_assets(models)["classes.js"][0]
    assert 'PAIR_CLASSES = ["other", "same"]' in told
    assert "OWN_PAIRS = true" in told
    shape = create_app(models).openapi()["components"]["schemas"]["PairPrediction"]
    assert shape["properties"]["label"]["enum"] == ["other", "same"]


@pytest.mark.parametrize("kind", ["classes", "trees", "pairs"])
def test_the_documented_calls_use_texts_of_the_model(kind: str) -> None:
    models = Models(str(folder_of(kind)))
    own = models.related if kind == "pairs" else models.predictor
    sample = own.facts["sample_texts"][0]
    shapes = create_app(models).openapi()["components"]["schemas"]
    calls = {
        name: {
            key: one["examples"][0] for key, one in shapes[name]["properties"].items() if "examples" in one
        }
        for name in ("OneText", "Picture", "Two")
    }
    if kind == "pairs":
        assert calls["Two"] == dict(zip("ab", sample, strict=True))
    else:
        assert calls["OneText"]["text"] == calls["Picture"]["text"] == sample
    answers(models, OneText(**calls["OneText"]), Picture(**calls["Picture"]), Two(**calls["Two"]))


def test_trees_are_typed_as_json_or_in_brackets() -> None:
    models = Models(str(folder_of("trees")))
    plan = json.dumps(PLANS[3])
    example = models.predictor.facts["sample_texts"][0]
    assert json.loads(example).keys() == {"op", "cost", "parts"}
    scored, drawn, _ = answers(models, OneText(text=plan), Picture(text=plan), OneText(text=example))
    assert scored["numbers"] == drawn["result"]["numbers"]
    assert scored["text"] == "join scan"
    assert "join" in drawn["svg"]
    outcomes = models.compute([Picture(text=plan, view="dependencies")])
    assert "no dependencies" in str(outcomes[0])
    with pytest.raises(ValueError, match="fitted on trees"):
        models.compute([OneText(text="a sentence")])


@needs_chromium
@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        pytest.param("numbers", ".", marks=pytest.mark.slow),
        pytest.param("labels", "l", marks=pytest.mark.slow),
        ("trees", "."),
        ("pairs", "%"),
    ],
)
def test_the_page_of_each_kind_works_in_a_browser(kind: str, verdict: str) -> None:
    from playwright.sync_api import sync_playwright

    folder = folder_of(kind)
    with running("--model", str(folder)) as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page()
        page.set_default_timeout(1000 * LIMIT)
        wrong: list[str] = []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address)
        if kind == "pairs":
            page.wait_for_selector("#pair svg")
            said = page.inner_text("#pair .big")
        else:
            if kind == "trees":
                page.fill("#texts", json.dumps(PLANS[3]))
            page.wait_for_selector("#cards .node")
            said = page.inner_text("#cards .verdict")
            assert page.locator("#cards .detail .phrase").inner_text()
        assert verdict in said
        assert kind in page.title()
        assert page.locator("details pre").count() == 1
        browser.close()
    assert wrong == []


@needs_chromium
def test_long_names_of_classes_are_shown_in_full(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    texts, labels = examples(20)
    names = {
        "fruit": "fresh fruit and vegetables of the season",
        "tool": "tools/for/the/garden/and/the/kitchen",
    }
    options: dict[str, Any] = {"trees": "none", "settings": QUICK, "epochs": 1}
    bough.fit(texts, [names[label] for label in labels], **options).save(tmp_path)
    with running("--model", str(tmp_path)) as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page()
        page.set_default_timeout(1000 * LIMIT)
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(address)
            page.wait_for_selector("#cards .node")
            assert page.locator(".detail .bars dt").all_inner_texts() == list(names.values())
            bars = page.locator(".detail .bars")
            assert bars.evaluate("one => one.scrollWidth <= one.clientWidth")
            assert bars.locator(".track").first.evaluate("one => one.clientWidth") >= 35
            page.goto(f"{address}/docs")
            wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
            assert page.locator("pre").evaluate_all(wide) == 0
        browser.close()
