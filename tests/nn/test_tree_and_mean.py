"""Claims about a tree beside a mean: the vector of a sentence is the two, one after the other."""

import pytest
import torch
from hypothesis import given

from bough import Forest, Tree
from bough.nn import AttentiveChildSum, TreeAndMean
from layers import (
    assert_an_x_that_does_not_fit_is_an_error,
    assert_the_loss_of_an_empty_forest_has_a_gradient,
    registered,
)
from treegen import trees


def test_an_x_that_does_not_fit_is_an_error_like_any_layers() -> None:
    assert_an_x_that_does_not_fit_is_an_error(TreeAndMean(4, 3))


def test_a_guide_has_one_row_per_tree() -> None:
    layer, forest = AttentiveChildSum(4, 5), Forest([Tree([-1, 0, 0])])
    assert layer(torch.randn(3, 4), forest, guide=torch.randn(1, 5))[0].shape == (3, 5)
    for wrong in (torch.randn(9, 5), torch.randn(1, 7)):
        with pytest.raises(ValueError, match=r"guide is .*; it must be \(1, 5\), one row per tree"):
            layer(torch.randn(3, 4), forest, guide=wrong)


@pytest.mark.parametrize("name", registered("bough"))
def test_the_loss_of_an_empty_forest_has_a_gradient(name: str) -> None:
    assert_the_loss_of_an_empty_forest_has_a_gradient(name)


@given(tree=trees(max_nodes=8))
def test_it_is_the_root_and_the_mean_of_all_words_of_a_dependency_tree(tree: Tree) -> None:
    layer = TreeAndMean(4, 3).double()
    x = torch.randn(len(tree), 4, dtype=torch.float64)
    other = torch.randn(1, 4, dtype=torch.float64)
    (h, _), found = layer.tree(x, Forest([tree])), layer(torch.cat([x, other]), Forest([tree, Tree([-1])]))
    assert torch.allclose(found[0], torch.cat([h[tree.root], x.mean(dim=0)]))
    assert torch.allclose(found[1, 3:], other[0])


def test_equal_words_count_as_often_as_they_are_there() -> None:
    layer = TreeAndMean(2, 3)
    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    forest = Forest([Tree([1, 2, -1])], keys=[[7, 7, 8]])
    assert layer(x, forest)[0, 3:].tolist() == pytest.approx([2 / 3, 1 / 3])
