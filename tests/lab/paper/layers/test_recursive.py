"""DT-RNN and SDT-RNN: the paper's baselines without gates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from torch import Tensor

from bough import Forest, Tree
from oracle import TOLERANCE, D, Keys, X, assert_recursive, batches, drawn, inputs
from paper.layers.dependency import DTRNN, SDTRNN

R = 3
NONLINEARITIES = ("tanh", "relu", "sigmoid")
NAMES: dict[Hashable, int] = {"subj": 0, "obj": 1, "det": 2}
CATS = Tree([1, -1, 1], relations=["subj", None, "obj"])
DOGS = Tree([1, -1, 1], relations=["obj", None, "subj"])


def dt_rnn(layer: DTRNN, x: Tensor, trees: Sequence[Tree], masks: Tensor | None = None) -> tuple[Tensor]:
    """h (N, D) one node at a time, of a DT-RNN or, with a matrix for each relation, an SDT-RNN."""
    assert masks is None
    squash = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid}[layer.nonlinearity]
    U, b = layer.U.unbind(), layer.b_U.unbind()
    rows, h = x.unbind(), list[Tensor]()
    for tree in trees:
        first = len(h)
        h += [x] * len(tree)
        words = [1] * len(tree)
        for j in tree.heights.argsort(kind="stable").tolist():
            z = layer.W @ rows[first + j] + layer.b_W
            for k in tree.children[j]:
                r = _relation(tree, k) if layer.relations > 1 else 0
                message = h[first + k] @ U[r] + b[r]  # U is stored transposed
                z = z + (words[k] * message if layer.average else message)
                words[j] += words[k]
            h[first + j] = squash(z / words[j] if layer.average else z)
    return (torch.stack(h),)


def _relation(tree: Tree, node: int) -> int:
    assert tree.relations is not None
    relation = tree.relations[node]
    return relation if isinstance(relation, int) else NAMES[relation]


@pytest.mark.parametrize("nonlinearity", NONLINEARITIES)
@pytest.mark.parametrize("average", [False, True])
@given(batch=batches(relations=R))
@drawn
def test_batched_equals_recursive(batch: tuple[list[Tree], Keys], nonlinearity: Any, average: bool) -> None:
    plain = DTRNN(X, D, nonlinearity=nonlinearity, average=average)
    by_relation = SDTRNN(X, D, relations=R, nonlinearity=nonlinearity, average=average)
    for layer in (plain, by_relation):
        assert_recursive(layer, *batch, reference=dt_rnn)


def test_relations_by_name() -> None:
    layer, trees = SDTRNN(X, D, relations=R).double(), [CATS, DOGS]
    x = inputs(trees)
    h = layer(x, Forest(trees, relations=NAMES))
    torch.testing.assert_close(h, dt_rnn(layer, x, trees)[0], **TOLERANCE)


def test_relations_tell_equal_words_apart() -> None:
    trees, keys = [CATS, DOGS], [[0, 1, 0], [0, 1, 0]]
    assert Forest(trees, keys, relations=NAMES).num_unique == 3  # one leaf; the roots differ in their edges
    bare = [Tree(tree.parents) for tree in trees]
    assert Forest(bare, keys).num_unique == 2
    numbered = [
        Tree(tree.parents, relations=[NAMES.get(r, 0) for r in tree.relations or ()]) for tree in trees
    ]
    assert_recursive(SDTRNN(X, D, relations=R), numbered, keys, reference=dt_rnn)
    layer = SDTRNN(X, D, relations=R).double()
    h = layer(inputs(trees, keys), Forest(trees, keys, relations=NAMES))
    torch.testing.assert_close(h[1], h[4], **TOLERANCE)  # the sum over two equal children has no order


def test_one_relation_is_a_dt_rnn() -> None:
    trees = [Tree([1, -1, 1], relations=[0, 0, 0])]
    plain, layer = DTRNN(X, D).double(), SDTRNN(X, D, relations=1).double()
    layer.load_state_dict(plain.state_dict())
    x = inputs(trees)
    torch.testing.assert_close(layer(x, Forest(trees)), plain(x, Forest(trees)), **TOLERANCE)


# ------------------------------------------------------------------------ errors


def test_no_relations_at_all() -> None:
    layer = SDTRNN(X, D, relations=R).double()
    for tree in (Tree([1, -1]), Tree([1, -1], relations=["subj", None])):  # none, and names without ids
        with pytest.raises(ValueError, match=r"^the forest's trees have no relation ids; "):
            layer(inputs([tree]), Forest([tree]))


def test_single_nodes_need_no_relations() -> None:
    layer = SDTRNN(X, D, relations=R).double()
    assert layer(inputs([Tree([-1])]), Forest([Tree([-1])])).shape == (1, D)


def test_an_unknown_relation() -> None:
    with pytest.raises(ValueError, match=r"^relation 'aux' is not among the 3 in `relations`$"):
        Forest([CATS, Tree([1, -1], relations=["aux", None])], relations=NAMES)


@pytest.mark.parametrize("relation", [R, None])
def test_a_relation_out_of_range(relation: int | None) -> None:
    trees = [Tree([1, -1], relations=[0, None]), Tree([-1, 0, 0], relations=[None, 1, relation])]
    shown = -1 if relation is None else relation
    message = rf"^node 2 of tree 1 has relation {shown}; the layer has 0\.\.2$"
    with pytest.raises(ValueError, match=message):
        SDTRNN(X, D, relations=R).double()(inputs(trees), Forest(trees))


def test_options_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"^nonlinearity='step': one of tanh, relu, sigmoid$"):
        DTRNN(X, D, nonlinearity="step")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^relations=0: at least 1$"):
        SDTRNN(X, D, relations=0)


def test_repr_shows_what_the_layer_is() -> None:
    assert repr(SDTRNN(300, 150, relations=40)) == (
        "SDTRNN(300, 150, nonlinearity='tanh', average=False, relations=40)"
    )
