"""Claims about the inputs of nodes: words, categories and numbers, known, unseen and missing."""

import json
import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough import FormatError, Tree
from bough.models.batching import collate, prepare_all
from bough.models.config import Config
from bough.models.inputs import InputSpec, NodeInputs, NumberColumn
from bough.models.model import Model
from small_models import CLASSES

NAN = float("nan")
SMALL: dict[str, Any] = {"layer": "dependency", "hidden_size": 8, "embedding_size": 6}


def tree(numbers: list[float], kinds: list[str | None] | None = None, **more: Any) -> Tree:
    """A root with the other nodes below it."""
    return Tree(
        [-1, *[0] * (len(numbers) - 1)],
        features=[[number] for number in numbers],
        feature_names=["cost"],
        categories={"kind": kinds or ["a"] * len(numbers)},
        **more,
    )


TREES = [tree([1.0, 2.0, 3.0], ["a", "b", None]), tree([4.0, NAN], ["b", "b"])]


def model_of(trees: list[Tree], **settings: Any) -> Model:
    torch.manual_seed(1)
    words = ["scan", "join"]
    config = Config(**{**SMALL, **settings})
    table = torch.randn(3, config.embedding_size)
    return Model(config, CLASSES, words, (), table, input_spec=InputSpec.from_trees(trees)).eval()


@torch.no_grad()
def vectors(model: Model, trees: list[Tree]) -> torch.Tensor:
    forest, inputs = collate(prepare_all(trees, model), model)
    return model.sentences(forest, inputs)


@given(
    st.lists(st.floats(-1e150, 1e150), min_size=2, max_size=30),
    st.sampled_from(["auto", "all", "none"]),
)
def test_numbers_are_standardised_on_the_training_trees(values: list[float], log: Any) -> None:
    column = NumberColumn.fitted("x", np.array([*values, NAN]), edge=False, log=log)
    standardised = column.standardised(np.array([*values, NAN]))
    found = standardised[:-1]
    assert math.isnan(standardised[-1])
    assert np.isfinite(found).all()
    assert math.isfinite(column.mean)
    if np.ptp(found) > 1e-3:  # else they are all but equal
        assert found.mean() == pytest.approx(0, abs=1e-3)
        assert found.std() == pytest.approx(1, abs=1e-3)
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= -1e-9).all()  # the order of numbers is kept


def test_a_column_that_spans_decades_is_read_in_logarithms() -> None:
    wide, narrow = 10.0 ** np.linspace(-4, 4, 50), np.linspace(0, 1, 50)
    assert NumberColumn.fitted("x", wide, edge=False, log="auto").log_unit > 0
    assert NumberColumn.fitted("x", -wide, edge=False, log="auto").log_unit > 0
    assert NumberColumn.fitted("x", narrow, edge=False, log="auto").log_unit == 0
    assert NumberColumn.fitted("x", wide / 1e5, edge=False, log="auto").log_unit > 0  # all are below 1
    found = NumberColumn.fitted("x", wide, edge=False, log="auto").standardised(wide)
    assert np.abs(np.diff(found)).min() > 0.01  # the small ones are told apart, too


def test_numbers_far_from_those_of_training_are_clipped_on_both_sides() -> None:
    column = NumberColumn.fitted("x", np.array([0.0, 1.0]), edge=False, log="none")
    assert column.standardised(np.array([-1e30, 1e30])).tolist() == [-1e6, 1e6]


def test_the_root_has_no_edge() -> None:
    lengths = Tree([-1, 0, 0], edge_features=[[100.0], [1.0], [3.0]], edge_feature_names=["length"])
    (column,) = InputSpec.from_trees([lengths]).numbers
    assert (column.mean, column.scale) == (2.0, 1.0)
    inputs = NodeInputs(InputSpec(False, numbers=(column,)), 1, 1, "sum")
    assert inputs.columns(lengths).numbers.tolist() == [[0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]]


def test_a_column_is_1_where_a_number_is_missing() -> None:
    inputs = model_of(TREES).inputs
    assert inputs is not None
    assert inputs.columns(tree([NAN, 2.5, NAN])).numbers.tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]


def test_a_model_learns_what_only_numbers_tell() -> None:
    rng, both = np.random.default_rng(1), []
    for _ in range(200):
        numbers = rng.lognormal(3, 2, size=4)
        both.append((tree(numbers.tolist()), int(numbers.max() > 150)))
    trees, labels = [one for one, _ in both], torch.tensor([label for _, label in both])
    model = model_of(trees[:150])
    head = torch.nn.Linear(8, 2)
    assert model.inputs is not None
    weights = [*model.inputs.parameters(), *model.layer.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(weights, 0.02)
    forest, inputs = collate(prepare_all(trees[:150], model), model)
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(head(model.sentences(forest, inputs)), labels[:150])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = head(vectors(model, trees[150:])).argmax(dim=1)
    assert float((found == labels[150:]).float().mean()) > 0.9
    assert 0.2 < float(labels.float().mean()) < 0.8


@pytest.mark.parametrize("tokens", [True, False])
def test_fit_reads_what_the_nodes_have(tokens: bool, tmp_path: Path) -> None:
    rng, trees, labels = np.random.default_rng(1), [], []
    for _ in range(80):
        numbers, kinds = rng.lognormal(3, 2, size=3), rng.choice(["a", "b"], size=3).tolist()
        more = {"tokens": ["scan", "join", "join"]} if tokens else {}
        trees.append(tree(numbers.tolist(), kinds, **more))
        labels.append("dear" if numbers.max() > 150 else "cheap")
    options: dict[str, Any] = {"epochs": 12, "settings": {"batch_size": 5}, "out": tmp_path / "run"}
    mine = bough.fit(trees[:60], labels[:60], dev=(trees[60:], labels[60:]), **options)
    assert mine.evaluate(trees, labels).figures["accuracy"] > 0.9  # the words and categories tell nothing
    again: Any = bough.load(tmp_path / "run")
    assert [one.json() for one in again(trees[:9])] == [one.json() for one in mine(trees[:9])]
    card = (tmp_path / "run" / "README.md").read_text()
    assert "- `kind`: 2 categories (a, b)\n- `cost`: a number, (sign(x) log(" in card


def test_a_missing_number_is_not_zero_and_not_the_mean() -> None:
    model = model_of(TREES)
    assert model.inputs is not None
    assert model.inputs.numbers is not None
    with torch.no_grad():
        model.inputs.numbers[:, 1] = 1  # of the indicator: training would move it
    missing, zero, mean = vectors(model, [tree([1.0, NAN]), tree([1.0, 0.0]), tree([1.0, 2.5])])
    assert not torch.allclose(missing, zero, atol=1e-4)
    assert not torch.allclose(missing, mean, atol=1e-4)


@pytest.mark.parametrize("combine", ["sum", "join"])
@pytest.mark.parametrize("tokens", [True, False])
def test_it_comes_back_as_it_was(combine: str, tokens: bool, tmp_path: Path) -> None:
    named = [one.replace(tokens=["scan"] * len(one)) if tokens else one for one in TREES]
    named[0] = named[0].replace(edge_features=[[1.0], [2.0], [7.0]], edge_feature_names=["length"])
    model = model_of(named, combine=combine, category_size=5)
    assert model.layer.input_size == {("sum", True): 6, ("sum", False): 5, ("join", True): 16}.get(
        (combine, tokens), 10
    )
    model.save(tmp_path, card="")
    again = Model.load(tmp_path)
    assert again.inputs is not None
    assert model.inputs is not None
    assert again.inputs.spec == model.inputs.spec
    assert torch.equal(vectors(again, named), vectors(model, named))


def test_unseen_categories_and_columns_are_read_as_missing_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = model_of(TREES)
    assert model.inputs is not None
    vectors(model, TREES)
    assert not model.inputs.unseen
    other = Tree([-1, 0], categories={"kind": ["c", "c"], "colour": ["red", None]})
    assert bool(vectors(model, [other, other]).isfinite().all())
    assert model.inputs.unseen == {
        "the category 'kind' has an unseen value 'c'": 4,
        "a tree has no number 'cost'": 4,
        "the model does not read 'colour'": 4,
    }
    assert [record.levelno for record in caplog.records] == [logging.WARNING]  # one line for all of them


@pytest.mark.parametrize("layer", ["dependency", "lstm", "constituency", "tree-gru"])
def test_trees_that_differ_in_a_category_or_a_number_alone_have_other_states(layer: str) -> None:
    tokens = {"tokens": ["scan", "scan"]}
    same = [tree([1.0, 2.0], ["a", "a"], **tokens), tree([1.0, 2.0], ["a", "a"], **tokens)]
    changed = [tree([1.0, 2.5], ["a", "a"], **tokens), tree([1.0, 2.0], ["a", "b"], **tokens)]
    for numbers in (True, False):
        trees = [*same, *changed] if numbers else [one.replace(features=None) for one in (*same, changed[1])]
        found = vectors(model_of(trees, layer=layer), trees)
        assert torch.allclose(found[0], found[1])
        for other in found[2:]:
            assert not torch.allclose(found[0], other, atol=1e-4)


def test_equal_subtrees_with_equal_categories_are_computed_once() -> None:
    trees = [tree([1.0] * 3, ["a", "b", "b"]).replace(features=None)] * 4
    model = model_of(trees)
    forest, _ = collate(prepare_all(trees, model), model)
    assert (forest.num_nodes, forest.num_unique) == (12, 2)


def test_a_text_in_a_node_is_the_mean_of_its_words() -> None:
    trees = [tree([1.0, 2.0], tokens=["scan join", None]).replace(features=None)]
    model = model_of(trees, node_text=True)
    forest, inputs = collate(prepare_all(trees, model), model)
    x = model.look_up(forest, inputs)
    assert model.inputs is not None
    with torch.no_grad():
        alone = model.inputs.forward(torch.zeros(2, 6), torch.full((2, 1), 2), torch.zeros(2, 0))
    assert torch.allclose(x - alone, torch.stack([torch.zeros(6), model.table[1:].mean(dim=0)]), atol=1e-6)


def test_without_categories_and_numbers_there_is_nothing_but_the_words() -> None:
    model = model_of([Tree([-1], tokens=["scan"])])
    assert model.inputs is None
    assert not any(name.startswith("inputs") for name in model.state_dict())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numbers": [{"name": "cost", "scale": 0.0}]}, "a scale above 0"),
        ({"numbers": [{"name": "cost", "mean": NAN}]}, "a finite mean"),
        ({"numbers": [{"name": "cost"}, {"name": "cost"}]}, "a number occurs twice"),
        ({"numbers": [{"nom": "cost"}]}, "not a readable model"),
        ({"numbers": 3}, "not a readable model"),
        ({"categories": [{"name": "kind", "values": ["a", "a"]}]}, "has a value twice"),
        ({"categories": [{"name": "kind", "values": ["a", 3]}]}, "no string"),
        ({"categories": [{"name": "kind", "values": [str(i) for i in range(99)]}]}, r"inputs\.categories is"),
        ({"categories": []}, r"inputs\.categories is"),
        ({"colours": []}, "unknown key 'colours'"),
    ],
)
def test_a_folder_with_other_columns_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    model_of(TREES).save(tmp_path, card="")
    file = tmp_path / "config.json"
    meta = json.loads(file.read_text())
    meta["inputs"] |= change
    file.write_text(json.dumps(meta))
    with pytest.raises(FormatError, match=message):
        Model.load(tmp_path)
