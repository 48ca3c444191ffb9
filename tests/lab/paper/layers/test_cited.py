"""Claims about the cited systems' layers: each is the equations its authors wrote, and its special cases are known."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bough import Forest, Tree
from bough.nn import kinds
from bough.trees.builders import chain
from layers import trees_for
from oracle import TOLERANCE, D, X, drawn, inputs
from paper.layers import CNN, DCNN, DRNN, MVRNN, RNTN, RecursiveNetwork, SequenceEncoder

PAIR = Tree([2, 2, -1])
SEQUENCES = [name for name, kind in kinds().items() if issubclass(kind.layer, SequenceEncoder)]


def test_a_recursive_network_starts_near_the_sum_of_its_children() -> None:
    torch.manual_seed(0)
    layer = RecursiveNetwork(100)
    with torch.no_grad():
        layer.b.zero_()
        h = layer(x := 0.01 * torch.randn(3, 100), Forest([PAIR]))
    assert torch.cosine_similarity(h[2], x[0] + x[1], dim=0) > 0.9


def test_an_rntn_without_its_tensor_is_the_recursive_network() -> None:
    tensor, plain = RNTN(X).double(), RecursiveNetwork(X).double()
    trees = trees_for("rntn")
    x, forest = inputs(trees), Forest(trees)
    plain.load_state_dict({name: w for name, w in tensor.state_dict().items() if name != "V"})
    assert not torch.allclose(tensor(x, forest), plain(x, forest))
    with torch.no_grad():
        tensor.V.zero_()
    torch.testing.assert_close(tensor(x, forest), plain(x, forest), **TOLERANCE)


def test_only_the_symmetric_part_of_the_tensor_counts() -> None:
    layer, trees = RNTN(X).double(), trees_for("rntn")
    x, forest = inputs(trees), Forest(trees)
    before = layer(x, forest)
    with torch.no_grad():
        V = layer.V.view(2 * X, 2 * X, X)
        V.copy_(V.transpose(0, 1).clone())
    torch.testing.assert_close(layer(x, forest), before, **TOLERANCE)


def test_words_whose_matrices_are_the_identity_make_a_recursive_network() -> None:
    d = 2
    matrix, plain = MVRNN(d + d * d).double(), RecursiveNetwork(d).double()
    plain.load_state_dict({"W": matrix.W, "b": matrix.b})
    x = torch.zeros(3, d + d * d, dtype=torch.float64)
    x[:, :d] = torch.randn(3, d)
    h, _ = matrix(x, Forest([PAIR]))
    torch.testing.assert_close(h, plain(x[:, :d].contiguous(), Forest([PAIR])), **TOLERANCE)


def test_a_word_s_matrix_changes_its_sibling_and_not_itself() -> None:
    layer = MVRNN(6).double()
    x = torch.randn(3, 6, dtype=torch.float64)
    with torch.no_grad():
        layer.W[2:] = 0  # the right child's part
        h, _ = layer(x, Forest([PAIR]))
        for word, counts in ((0, False), (1, True)):
            other = x.clone()
            other[word, 2:] += 1
            assert torch.equal(layer(other, Forest([PAIR]))[0][2], h[2]) is not counts


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_a_row_that_is_no_vector_and_matrix_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"input_size={size}: a vector and a square matrix"):
        MVRNN(size)


def test_a_deep_network_has_the_authors_number_of_parameters() -> None:
    layer = DRNN(300, 174, layers=4)
    output = 174 * 5 + 5
    assert sum(w.numel() for w in layer.parameters()) + output == 491_207


def test_a_deep_network_tells_left_from_right() -> None:
    layer = DRNN(X, D).double()
    x = inputs([PAIR])
    swapped = x[[1, 0, 2]]
    assert not torch.allclose(layer(x, Forest([PAIR]))[0][2], layer(swapped, Forest([PAIR]))[0][2])


# ------------------------------------------------------------------ sequences


@pytest.mark.parametrize("name", SEQUENCES)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6))
@drawn
def test_sentences_of_any_lengths_are_each_what_they_are_alone(name: str, lengths: list[int]) -> None:
    layer = kinds()[name].build(X, D, 1, {}).double()
    trees = [chain(length) for length in lengths]
    x = inputs(trees)
    together = layer(x, Forest(trees))
    alone = torch.cat([layer(part, Forest([t])) for part, t in zip(x.split(lengths), trees, strict=True)])
    assert together.shape == (len(trees), layer.width)
    torch.testing.assert_close(together, alone, **TOLERANCE)


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_tree_that_is_no_chain_is_refused(name: str) -> None:
    layer = kinds()[name].build(X, D, 1, {})
    with pytest.raises(ValueError, match="in a chain every node has at most one"):
        layer(torch.zeros(3, X), Forest([PAIR]))


def test_a_filter_answers_with_its_best_window() -> None:
    layer, words = CNN(X, D).double(), torch.randn(7, X, dtype=torch.float64)
    padded = torch.cat([torch.zeros(2, X), words, torch.zeros(2, X)])
    answers = torch.stack(
        [torch.einsum("dxm,mx->d", layer.get_parameter("w_3"), padded[i : i + 3]) for i in range(9)]
    )
    expected = torch.relu(answers + layer.get_parameter("b_3")).amax(dim=0)
    torch.testing.assert_close(layer(words, Forest([chain(7)]))[0, :D], expected, **TOLERANCE)


def test_the_second_channel_is_read_and_gets_no_gradient() -> None:
    layer = CNN(2 * X, D, channels=2).double()
    x = torch.randn(5, 2 * X, dtype=torch.float64, requires_grad=True)
    out = layer(x, Forest([chain(5)]))
    (grad,) = torch.autograd.grad(out.sum(), x)
    assert grad[:, :X].abs().sum() > 0
    assert grad[:, X:].abs().sum() == 0
    other = x.detach().clone()
    other[:, X:] += 1
    assert not torch.allclose(layer(other, Forest([chain(5)])), out)
    single = CNN(X, D).double()
    single.load_state_dict(layer.state_dict())
    twice = x[:, :X].repeat(1, 2)
    torch.testing.assert_close(
        layer(twice, Forest([chain(5)])), single(x[:, :X], Forest([chain(5)])), **TOLERANCE
    )
    with pytest.raises(ValueError, match="channels=2"):
        CNN(3, D, channels=2)


def _dcnn(layer: DCNN, words: Tensor) -> Tensor:
    """The authors' equations for one sentence, one number at a time."""

    def convolved(f: list[list[list[float]]], m: Tensor) -> list[list[list[float]]]:
        rows, out, maps, width = m.shape
        found = []
        for r in range(rows):
            n = len(f[r][0])
            found.append(
                [
                    [
                        sum(
                            float(m[r, j, k, t]) * f[r][k][i + t - width + 1]
                            for k in range(maps)
                            for t in range(width)
                            if 0 <= i + t - width + 1 < n
                        )
                        for i in range(n + width - 1)
                    ]
                    for j in range(out)
                ]
            )
        return found

    def pooled(f: list[list[list[float]]], k: int, b: Tensor) -> list[list[list[float]]]:
        folded = [
            [[p + q for p, q in zip(u, v, strict=True)] for u, v in zip(f[r], f[r + 1], strict=True)]
            for r in range(0, len(f), 2)
        ]
        return [
            [
                [
                    float(torch.tanh(value + b[r, j]))
                    for i, value in enumerate(row)
                    if i in sorted(range(len(row)), key=lambda i, row=row: -row[i])[:k]  # type: ignore[misc]
                ]
                for j, row in enumerate(maps)
            ]
            for r, maps in enumerate(folded)
        ]

    f = [[column] for column in words.t().tolist()]
    f = pooled(convolved(f, layer.m_1), max(layer.top, -(-len(words) // 2)), layer.b_1)
    return torch.tensor(pooled(convolved(f, layer.m_2), layer.top, layer.b_2), dtype=words.dtype).flatten()


@pytest.mark.parametrize("length", [1, 2, 5, 8])
@torch.no_grad()
def test_a_dynamic_network_is_its_authors_equations(length: int) -> None:
    layer = DCNN(4, maps=2, second_maps=3, window=4, second_window=3, top=3).double()
    words = torch.randn(length, 4, dtype=torch.float64)
    torch.testing.assert_close(
        layer(words, Forest([chain(length)]))[0], _dcnn(layer, words), rtol=1e-6, atol=1e-8
    )
