"""Hypothesis strategies for trees of any shape, shared by the tests."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from torch import Tensor

from bough import Tree

SHAPES = ("random", "chain", "wide", "deep")
WORDS = st.sampled_from(["a", "to", "oak", "elm", "ash", "leaf", "twig", "bark"])


@st.composite
def parents(draw: DrawFn, max_nodes: int = 12, min_nodes: int = 1, shuffle: bool = True) -> list[int]:
    """Parent lists: single nodes, unary chains, wide nodes, random attachment; in any numbering."""
    n = draw(st.integers(min_nodes, max_nodes))
    shape = draw(st.sampled_from(SHAPES))
    picks = draw(st.lists(st.integers(0, 2**16), min_size=n - 1, max_size=n - 1)) if n > 1 else []
    above = [-1]
    for node, pick in enumerate(picks, start=1):
        choice = {
            "random": pick % node,
            "chain": node - 1,
            "wide": 0,
            "deep": max(0, node - 1 - pick % 3),
        }
        above.append(choice[shape])
    return _permuted(above, draw(st.permutations(range(n)))) if shuffle else above


@st.composite
def trees(
    draw: DrawFn,
    max_nodes: int = 12,
    tokens: SearchStrategy[Any] | None = None,
    labels: SearchStrategy[Any] | None = None,
    relations: SearchStrategy[Any] | None = None,
    *,
    min_nodes: int = 1,
    shuffle: bool = True,
) -> Tree:
    """Trees of any shape; each column is a strategy for one node's entry, or None for no column."""
    above = draw(parents(max_nodes=max_nodes, min_nodes=min_nodes, shuffle=shuffle))

    def column(entry: SearchStrategy[Any] | None) -> list[Any] | None:
        return None if entry is None else draw(st.lists(entry, min_size=len(above), max_size=len(above)))

    return Tree(above, tokens=column(tokens), labels=column(labels), relations=column(relations))


@st.composite
def constituents(
    draw: DrawFn,
    max_nodes: int = 12,
    words: SearchStrategy[str] = WORDS,
    labels: SearchStrategy[Any] | None = None,
    *,
    shuffle: bool = True,
) -> Tree:
    """Trees of any shape with a word at every leaf and nowhere else."""
    shape = draw(trees(max_nodes=max_nodes, labels=labels, shuffle=shuffle))
    tokens = [draw(words) if degree == 0 else None for degree in shape.degrees]
    return Tree(shape.parents, tokens=tokens, labels=shape.labels)


def _permuted(above: list[int], order: list[int]) -> list[int]:
    """The same tree with node i renamed to order[i]."""
    renamed = [-1] * len(above)
    for node, parent in enumerate(above):
        renamed[order[node]] = -1 if parent < 0 else order[parent]
    return renamed


@st.composite
def graphs(draw: DrawFn, max_nodes: int = 7, max_edges: int = 10) -> tuple[Tensor, int]:
    """Edges (2, E) from child to parent without a cycle, some of them twice, and the number of nodes."""
    nodes = draw(st.integers(1, max_nodes))
    if nodes == 1:
        return torch.zeros(2, 0, dtype=torch.int64), 1
    pairs = st.tuples(st.integers(0, nodes - 2), st.integers(1, nodes - 1)).filter(
        lambda pair: pair[0] < pair[1]
    )
    edges = torch.tensor(draw(st.lists(pairs, max_size=max_edges)), dtype=torch.int64).view(-1, 2)
    return torch.tensor(draw(st.permutations(range(nodes))))[edges.t()], nodes
