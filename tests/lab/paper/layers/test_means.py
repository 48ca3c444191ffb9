"""Claims about the layers without a tree: a sentence is the mean of its words, and so is a phrase."""

from __future__ import annotations

import torch
from hypothesis import given

from bough import Forest, Tree
from bough.nn import MeanVectors
from layers import assert_an_x_that_does_not_fit_is_an_error
from paper.layers import SpanMean
from treegen import constituents


def test_an_x_that_does_not_fit_is_an_error_like_any_layers() -> None:
    assert_an_x_that_does_not_fit_is_an_error(MeanVectors(4))


@given(tree=constituents())
def test_a_phrase_without_a_tree_is_the_mean_of_its_words(tree: Tree) -> None:
    layer = SpanMean(4, 3).double()
    x = torch.randn(len(tree), 4, dtype=torch.float64)
    h, _, n = layer(x, Forest([tree]))
    words = x[tree.leaves.tolist()]
    for node, (start, end) in enumerate(tree.replace(tokens=None).spans.tolist()):
        length = torch.tensor(float(end - start), dtype=torch.float64).log()
        a = layer.W @ words[start:end].mean(dim=0) + layer.v * length + layer.b
        assert torch.allclose(h[node], torch.tanh(a))
        assert n[node] == end - start
