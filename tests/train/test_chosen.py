"""Claims about what a fit reports: the model that dev chose, calibrated on dev, is the one that test measures."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.data.examples import labelled_lists
from bough.data.vectors import load_vectors
from bough.pipelines import Pipeline
from bough.train.fit import fit_sources
from bough.train.options import FitOptions
from small_fits import QUICK

SETTINGS = {**QUICK, "embeddings": "tuned", "learning_rate": 0.1}
FRUIT, TOOLS = ("apple", "pear", "plum", "fig"), ("hammer", "saw", "drill", "file")
NEW = ("quince", "chisel", "melon", "pliers")  # in test alone
FRAME = ("the", "here", "there", "is")


@pytest.fixture(scope="module")
def glove(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors of all words, and of one more."""
    rng = np.random.default_rng(0)
    lines = [
        f"{word} {' '.join(f'{value:.4f}' for value in rng.normal(size=8))}\n"
        for word in (*FRAME, *FRUIT, *TOOLS, *NEW, "elsewhere")
    ]
    path = tmp_path_factory.mktemp("glove") / "own.8d.txt"
    path.write_text("".join(lines))
    return path


def examples(count: int, names: tuple[str, ...], seed: int) -> tuple[list[str], list[str]]:
    """Sentences about fruit and tools, of which one in five has the other's label."""
    rng = np.random.default_rng(seed)
    texts = [
        f"the {names[i % len(names)]} is {('here', 'there')[int(rng.integers(2))]} {i}" for i in range(count)
    ]
    wrong = rng.random(count) < 0.2
    return texts, ["fruit" if (i % 2 == 0) != wrong[i] else "tool" for i in range(count)]


MIXED = tuple(name for pair in zip(FRUIT, TOOLS, strict=True) for name in pair)
SPLITS = {"train": examples(60, MIXED, 1), "dev": examples(30, MIXED, 2), "test": examples(20, NEW, 3)}


def fitted(
    out: Path, glove: Path, epochs: int = 6, **others: tuple[list[str], list[str]]
) -> tuple[Pipeline, dict[str, Any]]:
    splits = {**SPLITS, **others}
    sources = {split: labelled_lists(texts, labels, split) for split, (texts, labels) in splits.items()}
    options = FitOptions(trees="none", settings=SETTINGS, epochs=epochs, vectors=str(glove))
    pipeline, outcome = fit_sources(sources, out, options)
    assert isinstance(pipeline, Pipeline)
    return pipeline, outcome


def test_the_figures_are_those_of_the_model_that_is_given_and_saved(glove: Path, tmp_path: Path) -> None:
    pipeline, outcome = fitted(tmp_path / "run", glove)
    assert abs(np.log(outcome["temperature"])) > 0.05
    saved = bough.load(tmp_path / "run")
    assert isinstance(saved, Pipeline)
    for model in (pipeline, saved):
        for split in ("dev", "test"):
            report = model.evaluate(*SPLITS[split])
            assert report.figures == pytest.approx(outcome["scores"][split]["figures"], rel=1e-4)


def test_words_of_test_alone_keep_the_vectors_of_the_file(glove: Path, tmp_path: Path) -> None:
    model = fitted(tmp_path / "run", glove, epochs=1)[0].model
    vectors = load_vectors(glove, NEW)
    assert np.array_equal(model.table[model.ids(NEW)].numpy(), vectors.rows)


def test_in_a_fit_the_labels_of_test_change_its_figures_alone(glove: Path, tmp_path: Path) -> None:
    texts, labels = SPLITS["test"]
    swapped = texts, [{"fruit": "tool", "tool": "fruit"}[label] for label in labels]
    one, other = (
        fitted(tmp_path / name, glove, test=test)[1]
        for name, test in (("one", SPLITS["test"]), ("other", swapped))
    )
    accuracies = [facts["scores"].pop("test")["figures"]["accuracy"] for facts in (one, other)]
    assert accuracies[0] == pytest.approx(1 - accuracies[1])
    baselines = [facts["baseline"]["figures"].pop("test")["accuracy"] for facts in (one, other)]
    assert baselines[0] == pytest.approx(1 - baselines[1])
    assert one["calibration"].pop("test") != other["calibration"].pop("test")
    assert one == other
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "other")]
    assert weights[0] == weights[1]


def noisy(kind: str, count: int, names: tuple[str, ...], seed: int) -> tuple[list[Any], list[Any]]:
    """Examples of a kind of target; their labels are partly random, and no two texts are alike."""
    texts, classes = examples(count, names, seed)
    texts = [f"{text} {'ab'[seed % 2]}{seed}" for text in texts]
    noise = np.random.default_rng(seed).random(count)
    values = [4.0 * (name == "fruit") + share for name, share in zip(classes, noise.tolist(), strict=True)]
    if kind == "labels":
        ripe = (noise < 0.5).tolist()
        return texts, [[name, "ripe"] if own else [name] for name, own in zip(classes, ripe, strict=True)]
    if kind == "trees":
        columns: Any = {"feature_names": ["size"]}
        trees = [
            bough.Tree(
                [-1, 0],
                features=[[share], [i]],
                categories={"name": [None, names[i % len(names)]]},
                **columns,
            )
            for i, share in enumerate(noise.tolist())
        ]
        return trees, values
    if kind in ("pairs", "ratings"):
        return [
            (text, " ".join(text.split()[::-1])) for text in texts
        ], classes if kind == "pairs" else values
    return texts, classes if kind == "classes" else values


@pytest.mark.parametrize("kind", ["classes", "labels", "numbers", "trees", "pairs", "ratings"])
def test_another_test_split_changes_only_its_own_figures(kind: str, tmp_path: Path) -> None:
    """Inputs, epoch, temperature, thresholds and baseline come from train and dev, whatever is predicted."""
    results, folders = [], [tmp_path / "one", tmp_path / "other"]
    options: dict[str, Any] = {} if kind == "trees" else {"trees": "none"}
    options["settings"] = {name: value for name, value in QUICK.items() if name != "recurrent_dropout"}
    for out, test in zip(folders, (noisy(kind, 24, MIXED, 3), noisy(kind, 30, NEW, 4)), strict=True):
        splits: Any = {"dev": noisy(kind, 40, MIXED, 2), "test": test}
        items, labels = noisy(kind, 60, MIXED, 1)
        bough.fit(items, labels, **splits, out=out, epochs=4, **options)
        facts, stored = (json.loads((out / name).read_text()) for name in ("fit.json", "config.json"))
        assert facts["scores"].pop("test")
        assert facts["baseline"]["figures"].pop("test")
        facts.get("calibration", {}).pop("test", None)
        parts = {name: stored.get(name) for name in ("config", "output", "inputs")}
        results.append(
            (facts, parts, *((out / name).read_bytes() for name in ("model.safetensors", "vocab.txt")))
        )
    for first, second in zip(*results, strict=True):
        assert first == second


@pytest.mark.parametrize("kind", ["classes", "labels", "numbers", "trees", "pairs", "ratings"])
def test_the_figures_of_every_kind_are_those_of_the_saved_model(kind: str, tmp_path: Path) -> None:
    items, labels = noisy(kind, 60, MIXED, 1)
    on_dev = noisy(kind, 40, MIXED, 2)
    # half of the labels of dev are wrong, so that the model is too sure of its classes there
    splits: Any = {"dev": (on_dev[0], sorted(on_dev[1])), "test": noisy(kind, 24, MIXED, 3)}
    options: dict[str, Any] = {} if kind == "trees" else {"trees": "none"}
    options["settings"] = {name: value for name, value in QUICK.items() if name != "recurrent_dropout"}
    options["settings"] |= {"learning_rate": 0.1, "select_by": "score"}
    bough.fit(items, labels, **splits, out=tmp_path / "run", epochs=6, **options)
    facts = json.loads((tmp_path / "run" / "fit.json").read_text())
    assert facts.get("temperature", 2.0) > 1.1
    for name, split in splits.items():
        figures = bough.load(tmp_path / "run").evaluate(*split).figures
        assert figures == pytest.approx(facts["scores"][name]["figures"], rel=1e-3, abs=1e-5)


def test_test_is_measured_with_the_best_epoch(glove: Path, tmp_path: Path) -> None:
    _, whole = fitted(tmp_path / "whole", glove, epochs=8)
    best = whole["epoch"]
    losses = [line["dev_loss"] for line in whole["history"]]
    assert best == 1 + int(np.argmin(losses)) < 8
    _, short = fitted(tmp_path / "best", glove, epochs=best)
    assert short["scores"] == whole["scores"]
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "best")]
    assert weights[0] == weights[1]
