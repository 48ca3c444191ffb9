"""Time published programs with trees, ported in `examples/ports`, against plain PyTorch of the same mathematics.

The plain programs go through a batch level by level, as the published ones do, with the weights of the port: the states
of all nodes are one tensor that each level reads and writes. Tree convolution needs no levels; its plain program pads
the plans of a batch to one size. Both sides begin with the same trees and include what they build from them.
"""

import json
import runpy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from benchmarks.measure import AsJson, Figures, Work, best_seconds
from bough import Forest, Graph, Tree

PORTS = Path(__file__).parents[1] / "examples" / "ports"
Ints = np.ndarray[Any, np.dtype[np.int64]]
Compute = Callable[[int], Tensor]  # the output for a batch, by its number
Level = tuple[
    Tensor, Tensor, Tensor
]  # nodes (n,), the nodes that they read (E,), the row of each one's reader (E,)


@dataclass(frozen=True)
class Port:
    """Batches for both sides, with the module that has their weights."""

    module: nn.Module
    ours: Compute
    plain: Compute


def port_class(name: str, class_name: str) -> Any:
    return runpy.run_path(str(PORTS / f"{name}.py"))[class_name]


# ------------------------------------------------------------------------------ plain PyTorch


def flat_parents(trees: list[Tree]) -> tuple[Ints, Ints]:
    """Return the parent of each node (N,), -1 for a root, and the number of nodes of each tree."""
    sizes = np.array([len(tree) for tree in trees])
    parents, first = (
        np.concatenate([tree.parents for tree in trees]),
        np.repeat(np.cumsum(sizes) - sizes, sizes),
    )
    return np.where(parents < 0, -1, parents + first), sizes


def depths(parents: Ints) -> Ints:
    """Return the number of edges above each node."""
    depth, above = np.zeros(len(parents), dtype=np.int64), parents
    while (inside := above >= 0).any():
        depth += inside
        above = np.where(inside, parents[above], -1)
    return depth


def levels(ranks: Ints, readers: Ints, read: Ints) -> list[Level]:
    """Return the levels of a batch: a node of rank r reads nodes of lower ranks."""
    order, counts = np.argsort(ranks, kind="stable"), np.bincount(ranks)
    rows = np.empty_like(order)
    rows[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    edges, ends = (
        np.argsort(ranks[readers], kind="stable"),
        np.bincount(ranks[readers], minlength=len(counts)),
    )
    parts = (order, counts), (read[edges], ends), (rows[readers[edges]], ends)
    splits = (torch.from_numpy(part).split(sizes.tolist()) for part, sizes in parts)
    return list(zip(*splits, strict=True))


def up(trees: list[Tree]) -> tuple[list[Level], Ints]:
    """Return the levels of a batch from the leaves, and the number of nodes of each tree."""
    parents, sizes = flat_parents(trees)
    children = np.flatnonzero(parents >= 0)
    return levels(np.concatenate([tree.heights for tree in trees]), parents[children], children), sizes


def summed(rows: Tensor, index: Tensor, size: int) -> Tensor:
    return rows.new_zeros(size, rows.shape[1]).index_add(0, index, rows)


def largest(rows: Tensor, index: Tensor, size: int) -> Tensor:
    wide = index.unsqueeze(1).expand_as(rows)
    return rows.new_zeros(size, rows.shape[1]).scatter_reduce(0, wide, rows, "amax", include_self=False)


def tree_of(sizes: Ints) -> Tensor:
    return torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes))


# -------------------------------------------------------------------------------------- trees


def random_tree(size: int, draw: np.random.Generator, most: int) -> Tree:
    """Return a tree in preorder order of creation, with at most so many children per node."""
    parents, free = [-1], [0] * most
    while len(parents) < size:
        place = int(draw.integers(len(free)))
        parents.append(free.pop(place))
        free += [len(parents) - 1] * most
    return Tree(parents)


def random_trees(count: int, low: int, high: int, draw: np.random.Generator, most: int) -> list[Tree]:
    return [random_tree(int(draw.integers(low, high + 1)), draw, most) for _ in range(count)]


# ---------------------------------------------------------------------------------- the ports


def operator_networks(draw: np.random.Generator, batches: int, scale: float) -> Port:
    """512 plans of 8 templates, 8 operators, networks of the published sizes."""
    numbers, width = [12, 8, 5, 20, 9, 7, 16, 10], 32
    templates = random_trees(8, 4, 12, draw, 2)
    module = port_class("operator_networks", "OperatorNetworks")(numbers, [2] * 8, width, 128)
    data = []
    for _ in range(batches):
        trees = [templates[int(k)] for k in draw.integers(8, size=max(1, int(512 * scale)))]
        kinds_of = {
            id(tree): np.random.default_rng(k).integers(8, size=len(tree)) for k, tree in enumerate(templates)
        }
        kinds = np.concatenate([kinds_of[id(tree)] for tree in trees])
        x = torch.zeros(len(kinds), max(numbers))
        for kind, size in enumerate(numbers):
            rows = torch.from_numpy(np.flatnonzero(kinds == kind))
            x[rows, :size] = torch.randn(len(rows), size)
        data.append((trees, kinds, x))

    def ours(batch: int) -> Tensor:
        trees, kinds, x = data[batch]
        out: Tensor = module(x, Forest(trees), kinds=kinds)
        return out

    def plain(batch: int) -> Tensor:
        trees, kinds, x = data[batch]
        places = torch.from_numpy(np.concatenate([places_of(tree) for tree in trees]))
        out = x.new_zeros(len(x), width)
        for nodes, read, rows in up(trees)[0]:
            below = x.new_zeros(len(nodes) * 2, width)
            below = below.index_copy(0, rows * 2 + places[read], out[read]).view(len(nodes), -1)
            of = kinds[nodes.numpy()]
            for kind in np.unique(of).tolist():
                some = torch.from_numpy(np.flatnonzero(of == kind))
                layers = module.networks[kind].layers
                out[nodes[some]] = layers(torch.cat([x[nodes[some], : numbers[kind]], below[some]], dim=1))
        return out

    return Port(module, ours, plain)


def places_of(tree: Tree) -> Ints:
    """Return the place of each node among its siblings."""
    places = np.zeros(len(tree), dtype=np.int64)
    for below in tree.children:
        places[list(below)] = np.arange(len(below))
    return places


def junction_trees(draw: np.random.Generator, batches: int, scale: float) -> Port:
    """32 molecules of 8 to 20 clusters, hidden size 450."""
    module = port_class("junction_trees", "JunctionTreeEncoder")(450, 450)
    data = [random_trees(max(1, int(32 * scale)), 8, 20, draw, 3) for _ in range(batches)]
    inputs = [torch.randn(sum(map(len, trees)), 450) for trees in data]

    def ours(batch: int) -> Tensor:
        out: Tensor = module(inputs[batch], Forest(data[batch]))
        return out

    def plain(batch: int) -> Tensor:
        x, trees = inputs[batch], data[batch]
        parents, _ = flat_parents(trees)
        child = np.flatnonzero(parents >= 0)
        count, parent = len(child), parents[child]
        message = np.full(
            len(parents), -1
        )  # the message from each node to its parent; the one down is `count` later
        message[child] = np.arange(count)
        # up: from the parent's other neighbours below; a message down reads the one above and those of siblings
        has_above = np.flatnonzero(message[parent] >= 0)
        inside = np.argsort(parent, kind="stable")
        sizes = np.bincount(parent, minlength=len(parents))
        first = np.cumsum(sizes) - sizes
        reader = np.repeat(np.arange(count), sizes[parent])
        offset = np.arange(len(reader)) - np.repeat(np.cumsum(sizes[parent]) - sizes[parent], sizes[parent])
        sibling = inside[first[parent[reader]] + offset]
        other = sibling != reader
        readers = np.concatenate([message[parent[has_above]], has_above + count, reader[other] + count])
        read = np.concatenate([has_above, message[parent[has_above]] + count, sibling[other]])
        heights, depth = np.concatenate([tree.heights for tree in trees]), depths(parents)
        ranks = np.concatenate([heights[child], heights.max() + depth[child]])
        start, end = (torch.from_numpy(np.concatenate(pair)) for pair in ((child, parent), (parent, child)))
        gates, d = module.messages, 450
        a = functional.linear(x, gates.W, gates.b).index_select(0, start)
        m = x.new_zeros(2 * count, d)
        for nodes, below, rows in levels(ranks, readers, read):
            a_z, a_r, a_u = a[nodes].chunk(3, dim=1)
            m_k = m[below]
            s = summed(m_k, rows, len(nodes))
            z = torch.sigmoid(a_z + s @ gates.U_z)
            r = torch.sigmoid(a_r[rows] + m_k @ gates.U_r)
            u = torch.tanh(a_u + summed(r * m_k, rows, len(nodes)) @ gates.U_u)
            m[nodes] = z * s + (1 - z) * u
        out: Tensor = module.output(torch.cat([x, summed(m, end, len(x))], dim=1))
        return out.relu()

    return Port(module, ours, plain)


def dag_attention(draw: np.random.Generator, batches: int, scale: float) -> Port:
    """40 graphs of 12 to 36 nodes, two layers in both directions, hidden size 100."""
    width, edge_size = 100, 4
    module = port_class("dag_attention", "DAGEncoder")(32, width, edge_size)
    data = []
    for _ in range(batches):
        graphs = [
            random_graph(int(draw.integers(12, 37)), draw, edge_size) for _ in range(max(1, int(40 * scale)))
        ]
        data.append((graphs, [Graph(g.edges[:, ::-1], len(g)).heights for g in graphs]))
    inputs = [torch.randn(sum(map(len, graphs)), 32) for graphs, _ in data]

    def ours(batch: int) -> Tensor:
        forest = Forest(data[batch][0])
        out: Tensor = module(inputs[batch], forest, forest.edge_features)
        return out

    def plain(batch: int) -> Tensor:
        x, (graphs, from_roots) = inputs[batch], data[batch]
        sizes = np.array([len(graph) for graph in graphs])
        firsts = np.cumsum(sizes) - sizes
        edges = np.concatenate([graph.edges + first for graph, first in zip(graphs, firsts, strict=True)])
        rows_of_edges = [graph.edge_features for graph in graphs if graph.edge_features is not None]
        e = torch.from_numpy(np.concatenate(rows_of_edges)).float()
        graph_of, vectors = tree_of(sizes), []
        heights = np.concatenate([graph.heights for graph in graphs])
        for stack, ranks, column in zip(
            module.stacks, (heights, np.concatenate(from_roots)), (0, 1), strict=True
        ):
            read, readers = edges[:, column], edges[:, 1 - column]
            order = np.argsort(ranks[readers], kind="stable")
            steps, e_sorted = levels(ranks, readers, read), e[torch.from_numpy(order)]
            ends = torch.from_numpy(np.flatnonzero(np.bincount(read, minlength=len(x)) == 0))
            features = e_sorted.split([len(below) for _, below, _ in steps])
            h = x
            for layer in stack:
                h_in, h = h, h.new_zeros(len(x), width)
                for number, ((nodes, below, rows), e_k) in enumerate(zip(steps, features, strict=True)):
                    own = h_in[nodes]
                    if number == 0:
                        h[nodes] = layer.cell(own)
                        continue
                    h_u = h[below]
                    scores = layer.w(torch.cat([own[rows], h_u + layer.V(e_k)], dim=1))
                    top = largest(scores.detach(), rows, len(nodes))
                    weights = (scores - top[rows]).exp()
                    alpha = weights / summed(weights, rows, len(nodes))[rows]
                    h[nodes] = layer.cell(own, summed(alpha * h_u, rows, len(nodes)))
                vectors.append(largest(h[ends], graph_of[ends], len(graphs)))
        return torch.cat(vectors, dim=1)

    return Port(module, ours, plain)


def random_graph(size: int, draw: np.random.Generator, edge_size: int) -> Graph:
    """Return a graph in which every node but the first reads the one before it, and some read others."""
    edges = [(node - 1, node) for node in range(1, size)]
    edges += [(int(draw.integers(node - 1)), node) for node in range(2, size) if draw.random() < 0.5]
    return Graph(edges, size, edge_features=np.eye(edge_size)[draw.integers(edge_size, size=len(edges))])


def rumour_trees(draw: np.random.Generator, batches: int, scale: float) -> Port:
    """64 conversations of 20 to 100 posts from the root, 300 inputs, hidden size 100."""
    module = port_class("rumour_trees", "RumourClassifier")(300, 100)
    data = [random_trees(max(1, int(64 * scale)), 20, 100, draw, 8) for _ in range(batches)]
    inputs = [torch.randn(sum(map(len, trees)), 300) for trees in data]

    def ours(batch: int) -> Tensor:
        out: Tensor = module(inputs[batch], Forest(data[batch]))
        return out

    def plain(batch: int) -> Tensor:
        x, trees = inputs[batch], data[batch]
        parents, sizes = flat_parents(trees)
        child = np.flatnonzero(parents >= 0)
        layer = module.layer
        a, h = layer.W(x), x.new_zeros(len(x), 100)
        for nodes, above, rows in levels(depths(parents), child, parents[child]):
            h_S = summed(h[above], rows, len(nodes))
            a_rz, a_h = a[nodes].tensor_split([200], dim=1)
            r, z = torch.sigmoid(a_rz + layer.U(h_S)).chunk(2, dim=1)
            h[nodes] = (1 - z) * h_S + z * torch.tanh(a_h + layer.U_h(r * h_S))
        leaves = torch.from_numpy(np.flatnonzero(np.bincount(parents[child], minlength=len(x)) == 0))
        out: Tensor = module.output(largest(h[leaves], tree_of(sizes)[leaves], len(trees)))
        return out

    return Port(module, ours, plain)


def tree_convolution(draw: np.random.Generator, batches: int, scale: float) -> Port:
    """64 plans of 3 to 41 nodes with two children each, 28 inputs, widths 256, 128 and 64."""
    module = port_class("tree_convolution", "PlanScorer")(28)
    data = [[binary_plan(int(draw.integers(1, 21)), draw) for _ in range(max(1, int(64 * scale)))]
            for _ in range(batches)]  # fmt: skip
    inputs = [torch.randn(sum(map(len, trees)), 28) for trees in data]

    def ours(batch: int) -> Tensor:
        out: Tensor = module(inputs[batch], Forest(data[batch]))
        return out

    def plain(batch: int) -> Tensor:
        trees = data[batch]
        longest, sizes = max(map(len, trees)), [len(tree) for tree in trees]
        h = functional.pad(
            nn.utils.rnn.pad_sequence(inputs[batch].split(sizes), batch_first=True), (0, 0, 1, 0)
        )
        index = np.zeros((len(trees), longest, 3), dtype=np.int64)  # itself, left and right; 0 is the padding
        for number, tree in enumerate(trees):
            index[number, : len(tree), 0] = np.arange(1, len(tree) + 1)
            inner = tree.degrees > 0
            index[number, : len(tree)][inner, 1:] = tree.child_list.reshape(-1, 2) + 1
        mask = torch.from_numpy(index[:, :, :1] > 0)
        flat = torch.from_numpy(index + np.arange(len(trees))[:, None, None] * (longest + 1)).view(-1)
        conv, count = module.convolution, torch.tensor(sizes).view(-1, 1, 1)
        for l, norm in enumerate(conv.norms, start=1):
            around = h.reshape(-1, h.shape[2]).index_select(0, flat).view(len(trees), longest, -1)
            z = around @ conv.get_parameter(f"W_{l}") + conv.get_parameter(f"b_{l}")
            z, n = z * mask, count * z.shape[2]
            z = (z - z.sum(dim=(1, 2), keepdim=True) / n) * mask
            z = z * (z.square().sum(dim=(1, 2), keepdim=True) / n + norm.eps).rsqrt()
            z = functional.leaky_relu(z * norm.weight + norm.bias)
            h = functional.pad(z * mask, (0, 0, 1, 0))
        pooled = h[:, 1:].masked_fill(~mask, -torch.inf).amax(dim=1)
        out: Tensor = module.output(functional.leaky_relu(module.hidden(pooled)))
        return out.squeeze(1)

    return Port(module, ours, plain)


def binary_plan(joins: int, draw: np.random.Generator) -> Tree:
    """Return a plan with so many joins of two inputs."""
    parents, leaves = [-1], [0]
    for _ in range(joins):
        node = leaves.pop(int(draw.integers(len(leaves))))
        leaves += [len(parents), len(parents) + 1]
        parents += [node, node]
    return Tree(parents)


def statement_trees(draw: np.random.Generator, batches: int, scale: float) -> Port:
    """32 programs of 5 to 30 statements of 2 to 20 nodes, 500 symbols, width 128."""
    module = port_class("statement_trees", "ProgramEncoder")(500)
    data = []
    for _ in range(batches):
        statements = draw.integers(5, 31, size=max(1, int(32 * scale))).tolist()
        trees = random_trees(sum(statements), 2, 20, draw, 4)
        data.append((trees, torch.from_numpy(draw.integers(500, size=sum(map(len, trees)))), statements))

    def ours(batch: int) -> Tensor:
        trees, ids, statements = data[batch]
        out: Tensor = module(ids, Forest(trees), statements)
        return out

    def plain(batch: int) -> Tensor:
        trees, ids, statements = data[batch]
        steps, sizes = up(trees)
        layer = module.statement
        a = layer.W(layer.e(ids))
        h = torch.zeros_like(a)
        for nodes, below, rows in steps:
            h[nodes] = a[nodes] + summed(h[below], rows, len(nodes))
        v = largest(h, tree_of(sizes), len(trees))
        outputs, _ = module.gru(pack_sequence(v.split(statements), enforce_sorted=False))
        return pad_packed_sequence(outputs, padding_value=-torch.inf)[0].amax(dim=0)

    return Port(module, ours, plain)


MADE: tuple[Callable[[np.random.Generator, int, float], Port], ...] = (
    operator_networks,
    tree_convolution,
    statement_trees,
    junction_trees,
    dag_attention,
    rumour_trees,
)


# -------------------------------------------------------------------------------- measurement


def with_backward(module: nn.Module, compute: Compute) -> Work:
    """Return the work of a forward and a backward pass."""

    def work(batch: int) -> None:
        module.zero_grad()
        compute(batch).square().sum().backward()

    return work


def largest_difference(port: Port, batch: int) -> float:
    """Return the largest difference of outputs and gradients between both sides, over the largest value."""

    def results(compute: Compute) -> Iterator[Tensor]:
        port.module.zero_grad()
        out = compute(batch)
        out.square().sum().backward()
        yield out.detach()
        yield from (weight.grad.clone() for weight in port.module.parameters() if weight.grad is not None)

    pairs = zip(results(port.ours), list(results(port.plain)), strict=True)
    return max(float((a - b).abs().max() / b.abs().max().clamp_min(1e-6)) for a, b in pairs)


def run_ports(batches: int = 4, rounds: int = 10, *, scale: float = 1.0, seed: int = 0) -> Figures:
    """Return milliseconds per batch of both sides, their ratio, and the difference of their results, by port."""
    draw, figures = np.random.default_rng(seed), dict[str, dict[str, float]]()
    torch.manual_seed(seed)
    for make in MADE:
        port = make(draw, batches, scale)
        difference = largest_difference(port, 0)
        sides = {
            "bough": with_backward(port.module, port.ours),
            "plain": with_backward(port.module, port.plain),
        }
        seconds = best_seconds(sides, batches, rounds)
        milliseconds = {name: round(taken / batches * 1e3, 3) for name, taken in seconds.items()}
        ratio = round(seconds["plain"] / seconds["bough"], 2)
        figures[make.__name__] = milliseconds | {"ratio": ratio, "difference": difference}
    ratios = [port["ratio"] for port in figures.values()]
    facts: Figures = {"torch": torch.__version__, "threads": torch.get_num_threads(), "seed": seed}
    return facts | {"ports": figures, "median": round(median(ratios), 2), "least": min(ratios)}


def ports(*, as_json: AsJson = False) -> None:
    """Compare ports of published programs with plain PyTorch, forward and backward."""
    torch.set_num_threads(1)
    result = run_ports()
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        show(result)


def show(result: Figures) -> None:
    title = f"forward and backward, ms of processor time per batch; one thread, torch {result['torch']}"
    table = Table("port", "bough", "plain PyTorch", "ratio", title=title, title_justify="left")
    for name, port in result["ports"].items():
        table.add_row(name, f"{port['bough']:.1f}", f"{port['plain']:.1f}", f"{port['ratio']:.2f}")
    Console().print(table, f"median {result['median']:.2f}, least {result['least']:.2f}")
