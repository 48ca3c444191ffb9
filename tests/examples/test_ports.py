"""Claims about the ports: each is the published equations, computed one node at a time in plain torch."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bough import Forest, Tree
from oracle import assert_all_close

PORTS = Path(__file__).parents[2] / "examples" / "ports"
TREES = [Tree([-1, 0, 0, 1, 1, 2, 5]), Tree([-1]), Tree([1, -1, 1, 2])]
D, X = 5, 4


def port(name: str) -> Any:
    return type(name, (), runpy.run_path(str(PORTS / f"{name}.py")))


def assert_equal_with_gradients(
    ours: Tensor, theirs: Tensor, inputs: list[Tensor], module: nn.Module
) -> None:
    assert_all_close([ours], [theirs])
    onto, wanted = torch.randn_like(ours), [*inputs, *module.parameters()]
    grads = [torch.autograd.grad(out, wanted, onto, materialize_grads=True) for out in (ours, theirs)]
    assert_all_close(*grads)


def rows(count: int, width: int = X) -> Tensor:
    return torch.randn(count, width, dtype=torch.float64, requires_grad=True)


def linear(module: nn.Module, x: Tensor) -> Tensor:
    """W x + b, from the weights alone."""
    weight, bias = module.weight, module.bias
    assert isinstance(weight, Tensor)
    return weight @ x if bias is None else weight @ x + bias  # type: ignore[operator]


def gru(cell: nn.GRUCell, x: Tensor, h: Tensor) -> Tensor:
    a_r, a_z, a_n = (cell.weight_ih @ x + cell.bias_ih).chunk(3)
    b_r, b_z, b_n = (cell.weight_hh @ h + cell.bias_hh).chunk(3)
    r, z = torch.sigmoid(a_r + b_r), torch.sigmoid(a_z + b_z)
    return (1 - z) * torch.tanh(a_n + r * b_n) + z * h


def test_operator_networks() -> None:
    sizes, children = [3, 1, 4], [0, 2, 1]  # of a scan, a join and a sort
    trees = [Tree([-1, 0, 0, 1]), Tree([-1, 0, 1, 1])]
    kinds = [1, 2, 0, 0, 2, 1, 0, 0]
    layer = port("operator_networks").OperatorNetworks(sizes, children, width=D, hidden=6).double()
    x = {kind: rows(kinds.count(kind), sizes[kind]) for kind in range(3)}
    ours = layer(x, Forest(trees), kinds=kinds)

    def output(tree: Tree, first: int, node: int) -> Tensor:
        kind = kinds[first + node]
        own = x[kind][kinds[: first + node].count(kind)]
        below = [output(tree, first, child) for child in tree.children[node]]
        z = torch.cat([own, *below, *[own.new_zeros(D)] * (children[kind] - len(below))])
        for part in layer.networks[kind].layers:
            z = z.clamp_min(0) if isinstance(part, nn.ReLU) else linear(part, z)
        return z

    theirs = torch.stack([output(tree, 4 * k, node) for k, tree in enumerate(trees) for node in range(4)])
    assert_equal_with_gradients(ours, theirs, list(x.values()), layer)


def test_junction_trees() -> None:
    forest, encoder = Forest(TREES), port("junction_trees").JunctionTreeEncoder(X, D).double()
    x, edges = rows(forest.num_nodes), forest.edge_index.t().tolist()
    near: dict[int, list[int]] = {node: [] for node in range(len(x))}
    for one, other in edges:
        near[one].append(other)
        near[other].append(one)
    gates = encoder.messages

    def message(i: int, j: int) -> Tensor:
        into = [message(k, i) for k in near[i] if k != j]
        s = sum(into, x.new_zeros(D))
        a_z, a_r, a_u = (gates.W @ x[i] + gates.b).chunk(3)
        z = 1 - torch.sigmoid(a_z + s @ gates.U_z)
        reset = sum((torch.sigmoid(a_r + m @ gates.U_r) * m for m in into), x.new_zeros(D))
        return (1 - z) * s + z * torch.tanh(a_u + reset @ gates.U_u)

    def cluster(i: int) -> Tensor:
        sums = sum((message(k, i) for k in near[i]), x.new_zeros(D))
        return linear(encoder.output, torch.cat([x[i], sums])).clamp_min(0)

    theirs = torch.stack([cluster(i) for i in range(len(x))])
    assert_equal_with_gradients(encoder(x, forest), theirs, [x], encoder)


def test_dag_attention() -> None:
    edges = torch.tensor([[0, 0, 1, 2, 0, 4, 4], [1, 2, 3, 3, 3, 5, 6]])
    forest = Forest.from_edges(edges, 7, batch=[0] * 4 + [1] * 3)
    encoder = port("dag_attention").DAGEncoder(X, D, 2).double()
    x, e = rows(7), rows(7, 2)

    def state(layers: list[Any], back: bool, v: int) -> Tensor:
        if not layers:
            return x[v]
        *lower, layer = layers
        before, (start, end) = state(lower, back, v), edges.flip(0) if back else edges
        columns = (end == v).nonzero().flatten().tolist()
        if not columns:
            return gru(layer.cell, before, x.new_zeros(D))
        read = [state(layers, back, int(start[k])) for k in columns]
        scores = [
            linear(layer.w, torch.cat([before, h + linear(layer.V, e[k])]))
            for h, k in zip(read, columns, strict=True)
        ]
        weights = torch.cat(scores).exp() / torch.cat(scores).exp().sum()
        return gru(
            layer.cell, before, sum((w * h for w, h in zip(weights, read, strict=True)), x.new_zeros(D))
        )

    ends = {False: [[3], [5, 6]], True: [[0], [4]]}
    vectors = [
        torch.cat([
            torch.stack([state(list(stack)[: depth + 1], back, v) for v in ends[back][graph]]).amax(dim=0)
            for back, stack in zip((False, True), encoder.stacks, strict=True)
            for depth in range(2)
        ])
        for graph in range(2)
    ]  # fmt: skip
    ours = encoder(x, forest, e)
    assert_equal_with_gradients(ours, torch.stack(vectors), [x, e], encoder)


def post(layer: Any, x: Tensor, h_S: Tensor) -> Tensor:
    a_r, a_z, a_h = (layer.W.weight @ x).chunk(3)
    U_r, U_z = layer.U.weight.chunk(2)
    r, z = torch.sigmoid(a_r + U_r @ h_S), torch.sigmoid(a_z + U_z @ h_S)
    return (1 - z) * h_S + z * torch.tanh(a_h + layer.U_h.weight @ (r * h_S))


@pytest.mark.parametrize("top_down", [True, False])
def test_rumour_trees(top_down: bool) -> None:
    forest = Forest(TREES)
    classifier = port("rumour_trees").RumourClassifier(X, D, top_down=top_down).double()
    x, vectors = rows(forest.num_nodes), []
    for tree, inside in zip(TREES, x.split([len(tree) for tree in TREES]), strict=True):

        def state(node: int, tree: Tree = tree, inside: Tensor = inside) -> Tensor:
            parent = [int(tree.parents[node])] if tree.parents[node] >= 0 else []
            read = [state(other, tree, inside) for other in (parent if top_down else tree.children[node])]
            return post(classifier.layer, inside[node], sum(read, x.new_zeros(D)))

        ends = tree.leaves.tolist() if top_down else [tree.root]
        vectors.append(linear(classifier.output, torch.stack([state(node) for node in ends]).amax(dim=0)))
    assert_equal_with_gradients(classifier(x, forest), torch.stack(vectors), [x], classifier)


def test_a_reply_that_arrives_later_is_one_step() -> None:
    layer = port("rumour_trees").RumourDown(X, D).double()
    x, tree = rows(4), Tree([-1, 0, 1, 1])
    whole, h = layer(x, Forest([tree])), layer(x[:3], Forest([Tree([-1, 0, 1])]))
    assert_all_close([layer.step(x[3:], h[[1]], [0])], [whole[3:]])


def test_tree_convolution() -> None:
    trees = [Tree([-1, 0, 0, 1, 1, 2, 2]), Tree([-1]), Tree([1, -1, 1])]  # joins of two inputs
    forest, scorer = Forest(trees), port("tree_convolution").PlanScorer(X, (6, D), hidden=3).double()
    for norm in scorer.convolution.norms:
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    x, scores = rows(forest.num_nodes), []
    for tree, h in zip(trees, x.split([len(tree) for tree in trees]), strict=True):
        for l, norm in enumerate(scorer.convolution.norms, start=1):
            W = scorer.convolution.get_parameter(f"W_{l}").T
            none = h.new_zeros(h.shape[1])
            z = torch.stack([
                W @ torch.cat([h[j], *(h[k] for k in below), *[none] * (2 - len(below))])
                + scorer.convolution.get_parameter(f"b_{l}")
                for j, below in enumerate(tree.children)
            ])  # fmt: skip
            z = (z - z.mean()) / (z.var(unbiased=False) + norm.eps).sqrt() * norm.weight + norm.bias
            h = torch.where(z > 0, z, z / 100)
        hidden = linear(scorer.hidden, h.amax(dim=0))
        scores.append(linear(scorer.output, torch.where(hidden > 0, hidden, hidden / 100)))
    assert_equal_with_gradients(scorer(x, forest), torch.cat(scores), [x], scorer)


def test_a_plan_has_one_score_alone_and_in_a_batch() -> None:
    scorer, x = port("tree_convolution").PlanScorer(X, (6, D)).double(), rows(8)
    trees = [Tree([-1, 0, 0]), Tree([-1, 0, 0, 1, 1])]
    alone = [scorer(part, Forest([tree])) for tree, part in zip(trees, x.split([3, 5]), strict=True)]
    assert_all_close([scorer(x, Forest(trees))], [torch.cat(alone)])


@pytest.mark.parametrize("keyed", [False, True])
def test_statement_trees(keyed: bool) -> None:
    symbols, statements = 7, [1, 2]
    encoder = port("statement_trees").ProgramEncoder(symbols, X, D).double()
    layer, gru = encoder.statement, encoder.gru
    ids = torch.randint(symbols, (sum(map(len, TREES)),))
    vectors = []
    for tree, inside in zip(TREES, ids.split([len(tree) for tree in TREES]), strict=True):

        def state(node: int, tree: Tree = tree, inside: Tensor = inside) -> Tensor:
            below = [state(child, tree, inside) for child in tree.children[node]]
            return sum(below, linear(layer.W, layer.e.weight[inside[node]]))

        vectors.append(torch.stack([state(node) for node in range(len(tree))]).amax(dim=0))
    # torch's network, one program at a time
    programs = [gru(part)[0].amax(dim=0) for part in torch.stack(vectors).split(statements)]
    keys = [part.tolist() for part in ids.split([len(tree) for tree in TREES])]
    ours = encoder(ids, Forest(TREES, keys if keyed else None), statements)
    assert_equal_with_gradients(ours, torch.stack(programs), [], encoder)
