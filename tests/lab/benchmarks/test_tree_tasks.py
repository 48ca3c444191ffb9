"""The tree tasks: ListOps by its published grammar, formulas and sentences as pairs, and a run that learns."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks import entailment, listops, logic, plans, tree_tasks
from benchmarks.tree_tasks import Settings, TreeClassifier, Words
from bough.errors import FormatError


def value(text: str) -> int:
    """The value of an expression, by its brackets alone."""
    stack: list[list[str | int]] = [[]]
    for token in re.findall(r"\[\w+|\]|\d", text):
        if token[0] == "[":
            stack.append([token])
        elif token == "]":
            operator, *values = stack.pop()
            stack[-1].append(listops.OPERATORS[str(operator)]([int(part) for part in values]))
        else:
            stack[-1].append(int(token))
    return int(stack[0][0])


def test_the_official_expressions_have_the_values_of_our_operators(data: Path) -> None:
    official = listops.read_test(data)
    assert len(official) == 10_000
    assert {text: value(text) for text in official} == official
    assert set(re.findall(r"[^\s()]+", " ".join(official))) == {*listops.OPERATORS, "]", *"0123456789"}


def test_generated_expressions_follow_the_grammar() -> None:
    found = listops.generate(300, seed=1, longest=60)
    assert {text: value(text) for text in found} == found
    assert listops.generate(300, seed=1, longest=60) == found
    assert max(len(re.findall(r"[^\s()]+", text)) for text in found) <= 60
    some = set(list(found)[:100])
    assert not some & listops.generate(300, seed=1, exclude=some).keys()
    for text in found:
        arguments = re.sub(r"[()]", " ", text)
        while "[" in arguments:  # innermost first
            inner = re.findall(r"\[\w+([^\[\]]*)\]", arguments)
            assert all(2 <= len(part.split()) <= 5 for part in inner)
            arguments = re.sub(r"\[\w+[^\[\]]*\]", "0", arguments)


def test_a_formula_is_a_binary_tree(tmp_path: Path) -> None:
    (tmp_path / "logic").mkdir()
    (tmp_path / "logic" / "train0").write_text("<\ta\t( not ( b ( and a ) ) )\n")
    (example,) = logic.read(tmp_path, ["train0"], words := Words())
    assert (list(words), example.label) == ([None, "a", "not", "b", "and"], 1)
    assert [tree.parents.tolist() for tree in example.trees] == [[-1], [-1, 0, 0, 2, 2, 4, 4]]
    assert example.ids[1].tolist() == [0, 2, 0, 3, 0, 4, 1]
    (tmp_path / "logic" / "train0").write_text("?\ta\tb\n")
    with pytest.raises(FormatError, match=r"train0:1: .*a line is one of =<>|\^v#, a formula and a formula"):
        logic.read(tmp_path, ["train0"], words)


def test_every_pair_of_sick_has_its_label(data: Path) -> None:
    dev = entailment.read(data, "dev", Words())
    assert [sum(example.label == k for example in dev) for k in range(3)] == [282, 144, 74]


@pytest.mark.parametrize("pairs", [False, True])
def test_a_run_learns_and_its_seed_fixes_the_weights(
    pairs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_tasks, "RESULTS", tmp_path)
    words, dice = Words(), random.Random(1)
    texts = [f"( {dice.choice('ab')} ( {dice.choice('ab')} c ) )" for _ in range(200)]
    found = [words.bracketed([text, "b"] if pairs else [text], int(text.split()[1] == "a")) for text in texts]
    settings = Settings("gated-recursive", 8, 3, batch_size=16, learning_rate=0.02, dropout=0.1)

    weights = []
    for _ in range(2):
        torch.manual_seed(1)
        model = TreeClassifier(settings, nn.Embedding(len(words), 4), 2, pairs=pairs)
        tree_tasks.run("toy", model, settings, (found[50:], found[:50]), {"test": found[:50]})
        weights.append(model.state_dict())
    for name, weight in weights[0].items():
        assert torch.equal(weight, weights[1][name])
    (stored,) = tree_tasks.stored_runs("toy")
    assert stored["test"]["test"] > 95
    assert stored["dev"][stored["best_epoch"] - 1] == max(stored["dev"])


def test_a_cost_in_proportion_to_the_latency_has_no_q_error(tmp_path: Path) -> None:
    lines = [
        {
            "ms": 2.0 * cost,
            "plan": {"Node Type": "Sort", "Total Cost": cost, "Plans": [{"Node Type": "Scan"}]},
        }
        for cost in (1, 10, 300)
    ]
    (tmp_path / "train.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    trees, latencies = plans.read(tmp_path / "train.jsonl")
    assert ([len(tree) for tree in trees], latencies) == ([2, 2, 2], [2.0, 20.0, 600.0])
    assert plans.cost_figures((trees, latencies), (trees, latencies)) == pytest.approx(
        dict.fromkeys(plans.FIGURES, 1.0)
    )
    wrong = plans.cost_figures((trees, latencies), (trees, [4.0, 10.0, 600.0]))
    assert wrong["q_error_median"] == pytest.approx(2.0)
