"""Readouts of a forest against a loop, and what a forest gathers from its trees."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import bough
from bough import Forest, Graph, Tree
from bough.nn import AttentionReadout
from oracle import TOLERANCE, Keys, batches, drawn

How = Literal["max", "mean", "sum"]
Over = Literal["nodes", "leaves", "roots"]
HOW: dict[str, Any] = {
    "max": lambda rows: rows.amax(dim=0),
    "mean": lambda rows: rows.mean(dim=0),
    "sum": lambda rows: rows.sum(dim=0),
}


def rows_of(h: Tensor, trees: list[Tree], over: str) -> list[Tensor]:
    """The rows of each tree that count."""
    found, start = [], 0
    for tree in trees:
        nodes = {"nodes": range(len(tree)), "leaves": sorted(tree.leaves.tolist()), "roots": [tree.root]}[
            over
        ]
        found.append(h[[start + node for node in nodes]])
        start += len(tree)
    return found


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("over", ["nodes", "leaves", "roots"])
@given(batch=batches())
@drawn
def test_pooling_is_a_loop_over_the_trees(how: How, over: Over, batch: tuple[list[Tree], Keys]) -> None:
    forest = Forest(*batch)
    h = torch.randint(-1, 2, (forest.num_nodes, 3)).double().requires_grad_()  # with equal maxima, and zeros
    ours = forest.pool(h, how, over=over)
    theirs = torch.stack([HOW[how](rows) for rows in rows_of(h, batch[0], over)])
    onto = torch.randn_like(ours)
    torch.testing.assert_close(ours, theirs, **TOLERANCE)
    grads = (torch.autograd.grad(out, h, onto)[0] for out in (ours, theirs))
    torch.testing.assert_close(*grads, **TOLERANCE)


@pytest.mark.parametrize("over", ["nodes", "leaves", "roots"])
@given(batch=batches())
@drawn
def test_attention_is_a_softmax_over_each_tree(over: Over, batch: tuple[list[Tree], Keys]) -> None:
    readout, forest = AttentionReadout(3, over=over).double(), Forest(*batch)
    h = 30 * torch.randn(forest.num_nodes, 3, dtype=torch.float64)
    wanted = []
    for rows in rows_of(h, batch[0], over):
        scores = torch.tanh(rows @ readout.W_m.T + readout.b_m) @ readout.w
        wanted.append(torch.softmax(scores, dim=0) @ rows)
    torch.testing.assert_close(readout(h, forest), torch.stack(wanted), **TOLERANCE)


@pytest.mark.parametrize("how", [*HOW, "attention"])
@pytest.mark.parametrize("over", ["nodes", "leaves", "roots"])
def test_gradcheck(how: str, over: Over) -> None:
    forest = Forest([Tree([2, 2, 3, -1]), Tree([-1]), Graph([(0, 1), (0, 2)], 3)])
    h = torch.randn(forest.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    readout = AttentionReadout(3, over=over).double()

    def pooled(h: Tensor, *weights: Tensor) -> Tensor:
        return readout(h, forest) if how == "attention" else forest.pool(h, how, over=over)  # type: ignore[arg-type]

    weights = list(readout.parameters()) if how == "attention" else []
    assert torch.autograd.gradcheck(pooled, (h, *weights))


def test_attention_survives_scores_that_would_overflow() -> None:
    readout, forest = AttentionReadout(2, over="leaves"), Forest([Tree([1, -1]), Tree([-1])])
    with torch.no_grad():
        readout.w.fill_(1e3)
        readout.W_m.fill_(1.0)
    h = torch.tensor([[-5.0, -5.0], [5.0, 5.0], [1.0, 2.0]], requires_grad=True)
    out = readout(h, forest)
    assert torch.equal(out, h[[0, 2]])
    out.sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in readout.parameters())


@pytest.mark.parametrize("how", [*HOW, "attention"])
def test_a_graph_without_nodes_has_zeros(how: str) -> None:
    forest = Forest.from_edges([[0], [1]], 3, batch=[0, 0, 2])
    h = torch.ones(3, 2)
    pooled = AttentionReadout(2)(h, forest) if how == "attention" else forest.pool(h, how)  # type: ignore[arg-type]
    assert pooled[1].tolist() == [0, 0]
    assert pooled[[0, 2]].all()


def test_several_roots_are_pooled() -> None:
    forest = Forest.from_edges([[0, 0], [1, 2]], 3)
    assert forest.pool(torch.tensor([[9.0], [2.0], [4.0]]), "mean", over="roots").tolist() == [[3.0]]


def test_wrong_arguments_are_named() -> None:
    forest, h = Forest([Tree([1, -1])]), torch.zeros(2, 3)
    with pytest.raises(ValueError, match=r"^how='min': 'max', 'mean' or 'sum'$"):
        forest.pool(h, "min")  # type: ignore[arg-type]
    for pool in (forest.pool, lambda h, how, over: AttentionReadout(3, over=over)(h, forest)):
        with pytest.raises(ValueError, match=r"^over='words': 'nodes', 'leaves' or 'roots'$"):
            pool(h, "sum", over="words")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"^h has 3 rows on cpu; the forest has 2 nodes, one row each, on cpu$"
    ):
        forest.pool(torch.zeros(3, 3), "sum")


# ------------------------------------------------------------------------- gathered columns


def test_features_and_tokens_are_gathered_in_node_order() -> None:
    tree = Tree([1, -1], tokens=["a", "b"], features=[[1.5], [np.nan]], edge_features=[[7.0], [8.0]])
    graph = Graph([(0, 2), (1, 2)], features=[[2], [3], [4]], edge_features=[[5.0], [6.0]])
    forest = Forest([tree, graph])
    assert forest.tokens == ("a", "b", None, None, None)
    assert forest.features is not None
    assert forest.features.dtype == torch.get_default_dtype()
    assert torch.equal(forest.features.nan_to_num(-1), torch.tensor([[1.5], [-1.0], [2.0], [3.0], [4.0]]))
    assert forest.edge_features is not None
    assert forest.edge_features.tolist() == [[7.0], [5.0], [6.0]]  # in the order of edge_index
    assert forest.edge_index.tolist() == [[0, 2, 3], [1, 4, 4]]
    meta = forest.to("meta")
    assert meta.features is not None
    assert (meta.features.device.type, meta.features.shape) == ("meta", (5, 1))


def test_a_forest_without_columns_has_none() -> None:
    for forest in (Forest([Tree([1, -1])]), Forest.from_edges([[0], [1]], 2)):
        assert (forest.features, forest.edge_features, forest.tokens) == (None, None, (None, None))


def test_trees_with_different_columns_are_named() -> None:
    named = Tree([-1], features=[[1.0]], feature_names=["cost"])
    with pytest.raises(
        ValueError, match=r"^tree 1 has no features, tree 0 has 1 features \['cost'\]; give all"
    ):
        Forest([named, Tree([-1])]).features  # noqa: B018


@given(batches())
@drawn
def test_edge_places_come_in_the_order_of_edge_index(batch: tuple[list[Tree], Keys]) -> None:
    forest, wanted = Forest(batch[0]), []
    for tree in batch[0]:
        wanted += [
            tree.children[parent].index(k) for k, parent in enumerate(tree.parents.tolist()) if parent >= 0
        ]
    assert forest.edge_index_places.tolist() == wanted
    assert torch.equal(forest.edge_index_places[forest.edge_columns], forest.edge_places)


@given(batches())
@drawn
def test_leaf_nodes_are_the_leaves_of_all_trees(batch: tuple[list[Tree], Keys]) -> None:
    forest = Forest(*batch)
    starts = forest.ptr.tolist()
    wanted = [starts[k] + leaf for k, tree in enumerate(batch[0]) for leaf in sorted(tree.leaves.tolist())]
    assert forest.leaf_nodes.tolist() == wanted


def test_leaves_of_a_forest_are_deprecated() -> None:
    forest = Forest([Tree([2, 2, -1])] * 2, keys=[[0, 0, 1]] * 2)
    with pytest.warns(DeprecationWarning, match=r"^Forest\.leaves is deprecated; use num_unique_leaves for"):
        assert forest.leaves == forest.num_unique_leaves == 1


# ------------------------------------------------------------------------------- DataLoader


@pytest.mark.parametrize("workers", [0, 2])
def test_collate_makes_forests_of_trees(workers: int) -> None:
    data = [(Tree([1, -1]), {"y": 0.5}), (Graph([(0, 1), (0, 2)], 3), {"y": 1.5}), (Tree([-1]), {"y": 2.5})]
    loader: Any = torch.utils.data.DataLoader(
        data,  # type: ignore[arg-type]
        batch_size=2,
        collate_fn=bough.collate,
        num_workers=workers,
    )
    (forest, labels), (last, _) = loader
    assert forest.ptr.tolist() == [0, 2, 5]
    assert labels["y"].tolist() == [0.5, 1.5]
    assert (len(last), last.num_nodes) == (1, 1)


@given(st.lists(st.sampled_from([Tree([1, -1]), Tree([-1])]), min_size=1))
@drawn
def test_collate_takes_bare_trees(trees: list[Tree]) -> None:
    assert bough.collate(trees).trees == tuple(trees)
