"""`python -m benchmarks speed` measures what it says, on the paper's data or on trees of the same shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.corpora import sick_shaped, sst_shaped
from benchmarks.measure import best_seconds
from benchmarks.speed import QUICK, run_bench
from benchmarks.steps import (
    ByLevels,
    Matmuls,
    RelatednessStep,
    SentimentStep,
    first_read,
    relatedness_floor,
    sentiment_floor,
)
from bough import Forest, Tree
from bough.errors import DataError
from bough.nn import ChildSumTreeLSTM

RATIOS = ("floor_ratio", "floor_ratio_unshared", "recursion_speedup", "shared_floor_ratio", "growth_ratio")
RATES = ("trees_per_second", "pairs_per_second")
PATHS = (
    "train_floor_ratio",
    "shared_train_floor_ratio",
    "done_ratio",
    "shared_done_ratio",
    "equations_ratio",
    "busy_threads_ratio",
    "recursion_speedup_equations",
)
TIMES = ("build_share", "unshared_floor_ratio", "seconds")


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("BOUGH_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUGH_DATA", str(tmp_path_factory.mktemp("nothing")))
        found = run_bench(effort=QUICK)
    assert torch.get_num_threads() == threads  # nothing is left changed
    assert torch.equal(torch.random.get_rng_state(), state)
    return found


def test_every_figure_is_there_and_positive(figures: dict[str, Any]) -> None:
    assert (figures["data"], figures["pairs_data"]) == ("random", "random")
    for key in (*RATIOS, *RATES, *PATHS, *TIMES):
        assert figures[key] > 0
    assert {"bough, equal phrases once", "plain torch by levels"} <= set(figures["peers"])
    assert min(figures["peers"].values()) > 0


def test_the_result_is_json(figures: dict[str, Any]) -> None:
    assert json.loads(json.dumps(figures)) == figures


def test_a_folder_that_was_named_must_have_the_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"train\.txt: no such file"):
        run_bench(tmp_path, effort=QUICK)


def test_real_trees_where_they_are_found(data: Path) -> None:
    corpus, pairs = sst_shaped(data, 30), sick_shaped(data, 30)
    assert (corpus.source, pairs.source) == ("sst", "sick")
    assert (len(corpus.trees), len(pairs.trees)) == (30, 60)
    assert pairs.ratings is not None
    assert len(pairs.ratings) == 30


# ------------------------------------------------------------------- the contenders


@pytest.mark.usefixtures("no_data")
def test_recursion_and_the_batched_step_learn_the_same() -> None:
    corpus = sst_shaped(None, 4)
    weights = []
    for shared in (True, False):
        for name in ("step", "recursive_step"):
            torch.manual_seed(1)
            system = SentimentStep(corpus.words, d=6, x=5)
            for _ in range(2):
                getattr(system, name)(corpus.batch(0, 4, shared=shared))
            weights.append(torch.cat([p.detach().flatten() for p in system.layer.parameters()]))
    for other in weights[1:]:
        torch.testing.assert_close(other, weights[0], rtol=1e-3, atol=1e-3)  # AdaGrad's first steps amplify


@pytest.mark.usefixtures("no_data")
def test_a_step_lowers_the_loss_of_its_pairs() -> None:
    corpus = sick_shaped(None, 25)
    torch.manual_seed(1)
    system = RelatednessStep(corpus.words, d=6, x=5)
    batch = corpus.batch(0, 25)

    def loss() -> float:
        x = system.table[batch.ids]
        h, _ = system.layer(x, batch.forest)
        left, right = h[batch.forest.roots].view(-1, 2, 6).unbind(1)
        return system.head.loss(left, right, batch.targets).item()

    before = loss()
    for _ in range(20):
        system.step(batch)
    assert loss() < before


@pytest.mark.usefixtures("no_data")
def test_the_floors_do_the_arithmetic_of_a_step() -> None:
    """Multiplications by shape: as many as a step without sharing needs, counted from the equations."""
    forest = sst_shaped(None, 5).batch(0, 5, shared=False).forest
    d, x = 6, 5
    leaves, inner = forest.num_unique_leaves, forest.num_nodes - forest.num_unique_leaves
    wanted = 3 * (leaves * x * 2 * d + inner * 2 * d * 5 * d + forest.num_nodes * d * 5)
    assert multiplications(sentiment_floor(forest, d, x)) == wanted

    forest = sick_shaped(None, 5).batch(0, 5, shared=False).forest
    inner, edges = forest.num_nodes - forest.num_unique_leaves, forest.num_nodes - 10
    gates = 3 * (inner * d * 2 * d + edges * d * d)
    wanted = 2 * forest.num_nodes * x * 3 * d + gates + 3 * 5 * (2 * d * 50 + 50 * 5)
    assert multiplications(relatedness_floor(forest, d, x)) == wanted


def multiplications(floor: Matmuls) -> int:
    return sum(left.shape[0] * left.shape[1] * right.shape[1] for left, right in floor.pairs)


def test_what_people_write_by_levels_is_the_same_layer() -> None:
    batch = sick_shaped(None, 5).batch(0, 5, shared=False)
    theirs, ours, x = ByLevels(), ChildSumTreeLSTM(300, 150), torch.randn(batch.forest.num_nodes, 300)
    i, o, u = (torch.arange(150) + 150 * k for k in range(3))
    with torch.no_grad():
        ours.W.copy_(torch.cat([theirs.W_iou.weight[torch.cat([u, i, o])], theirs.W_f.weight]))
        ours.b_W.copy_(torch.cat([theirs.W_iou.bias[torch.cat([u, i, o])], theirs.W_f.bias]))
        ours.U.copy_(theirs.U_iou.weight[torch.cat([u, i, o])].t())
        ours.U_f.copy_(theirs.U_f.weight.t())
        ours.b_U.zero_()
        torch.testing.assert_close(theirs(x, batch.forest), ours(x, batch.forest)[0])


def test_a_child_is_projected_once_by_the_lowest_level_that_reads_it() -> None:
    pair = Tree([2, 2, -1])
    forest = Forest([pair, pair, Tree([2, 2, 4, 4, -1])], [[1, 1, 0], [1, 1, 0], [1, 1, 0, 2, 0]])
    assert first_read(forest, 2) == [0, 2, 2]  # both slots of word 1; then the phrase, and word 2 beside it
    assert first_read(forest, 0) == [0, 1, 2]


# ------------------------------------------------------------------------- shapes


@pytest.mark.usefixtures("no_data")
def test_random_trees_have_the_shapes_of_the_real_ones() -> None:
    corpus = sst_shaped(None, 400)
    words = np.array([len(tree.leaves) for tree in corpus.trees])
    assert all(set(tree.degrees.tolist()) <= {0, 2} for tree in corpus.trees)
    assert 18 < words.mean() < 21  # SST: 19.1 words, 9.8 high
    assert 9 < np.mean([tree.heights.max() for tree in corpus.trees]) < 11
    for tree, keys in zip(corpus.trees, corpus.keys, strict=True):
        assert ((keys > 0) == (tree.degrees == 0)).all()
        assert keys.max() < corpus.words

    pairs = sick_shaped(None, 200)
    forests = [pairs.batch(start, 25).forest for start in range(0, 200, 25)]
    assert 9 < np.mean([len(tree) for tree in pairs.trees]) < 10.5  # SICK: 9.7 words, 53% of them distinct
    assert 0.5 < np.mean([forest.num_unique / forest.num_nodes for forest in forests]) < 0.65
    assert pairs.ratings is not None
    assert 1 <= pairs.ratings.min() <= pairs.ratings.max() <= 5


# ------------------------------------------------------------------------ measure


def test_contenders_take_turns_in_every_batch_of_every_round() -> None:
    seen: list[tuple[str, int]] = []
    best_seconds({"a": lambda n: seen.append(("a", n)), "b": lambda n: seen.append(("b", n))}, 3, 2)
    assert seen == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)] * 3  # one round to warm up


def test_the_best_of_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([9.0, 9.0, 3.0, 5.0, 4.0, 4.0])  # a round to warm up, then two rounds of two batches
    times = (time for seconds in taken for time in (0.0, seconds))
    monkeypatch.setattr("time.process_time", lambda: next(times))
    assert best_seconds({"a": lambda number: None}, 2, 2) == {"a": 7.0}


@pytest.mark.slow
def test_speed() -> None:
    """Generous bounds, which a change that spoils the engine breaks; others' work on the machine may spoil a try."""
    most = {"floor_ratio": 2.2, "shared_floor_ratio": 2, "build_share": 0.2, "growth_ratio": 1.5}
    for _ in range(3):
        figures = run_bench()
        wrong = {name: figures[name] for name, bound in most.items() if figures[name] >= bound}
        if figures["recursion_speedup"] <= 12:
            wrong["recursion_speedup"] = figures["recursion_speedup"]
        if not wrong:
            return
    pytest.fail(f"three times over, the last time: {wrong}")
