"""Nested JSON, read and written at any depth."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bough import FormatError, Tree
from bough.formats import nested
from bough.formats.lines import _parse_deep, parse_json
from treegen import WORDS, trees

KEYS: Any = {
    "token": "token",
    "label": "label",
    "numbers": ["cost"],
    "categories": ["kind"],
    "edge_numbers": ["d"],
}
untimed = settings(deadline=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@untimed
@given(trees(tokens=st.none() | WORDS, labels=st.none() | st.integers()), st.data())
def test_read_undoes_write(shape: Tree, data: Any) -> None:
    n = len(shape)
    column = st.lists(st.floats(allow_infinity=False), min_size=n, max_size=n)
    tree = shape.replace(
        features=np.array(data.draw(column))[:, None],
        feature_names=["cost"],
        edge_features=np.array(data.draw(column))[:, None],
        edge_feature_names=["d"],
        categories={"kind": data.draw(st.lists(st.none() | WORDS, min_size=n, max_size=n))},
    )
    line = nested.write(tree)
    ordered = tree.renumbered(tree.preorder)
    assert nested.parse(line, **KEYS) == ordered
    assert nested.read([line, "", line], **KEYS) == [ordered, ordered]
    renamed = nested.write(tree, children="Plans", token="Node Type", label="y")
    assert (
        nested.parse(renamed, **KEYS | {"children": "Plans", "token": "Node Type", "label": "y"}) == ordered
    )


def test_a_line_may_be_nested_10_000_deep() -> None:
    deep = Tree([*range(-1, 9_999)], tokens=["x"] * 10_000)
    line = nested.write(deep)
    assert nested.parse(line, token="token") == deep
    with pytest.raises(FormatError, match=r"not JSON \(Expecting ',' or '\}'"):
        nested.parse(line[:-1], token="token")


@untimed
@given(JSON, st.sampled_from([None, 2]))
@example([], None)
@example({"a": {}}, 1)
def test_the_deep_decoder_agrees_with_the_standard_one(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert _parse_deep(text) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[1,]",
        "[1 2]",
        '{"a"}',
        '{"a":1,}',
        "{1:2}",
        "[1]]",
        "[}",
        "[NaN]",
        "[1e999]",
        "nul",
        '["a',
        "[,1]",
    ],
)
def test_both_decoders_refuse_the_same(text: str) -> None:
    for decode in (parse_json, _parse_deep):
        with pytest.raises(ValueError):  # noqa: PT011  (FormatError, or json's own)
            decode(text)


def test_what_is_wrong_is_said_with_its_line_and_path() -> None:
    lines = ['{"cost": 1}', '{"children": [{"cost": "x"}]}']
    message = "plans.jsonl:2: children[0]: \"cost\" is 'x'; expected a number"
    with pytest.raises(FormatError, match=re.escape(message)):
        nested.read(lines, where="plans.jsonl", numbers=["cost"])
    with pytest.raises(FormatError, match=r"plans\.jsonl:1: root: \[1\] is no object with 'children'"):
        nested.read(["[1]"], where="plans.jsonl")


def test_write_needs_names_that_differ() -> None:
    with pytest.raises(ValueError, match="the features have no names"):
        nested.write(Tree([-1], features=[[1.0]]))
    with pytest.raises(ValueError, match="two columns of the tree are called 'token'"):
        nested.write(Tree([-1], tokens=["a"], features=[[math.nan]], feature_names=["token"]))
