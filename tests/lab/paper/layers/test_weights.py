"""The weights of the cited systems' layers: how they start, and where they lie."""

from __future__ import annotations

import pytest

from bough.nn.base import UniformInit
from layers import (
    assert_device_and_dtype_are_taken,
    assert_the_loss_of_an_empty_forest_has_a_gradient,
    assert_within_the_papers_bounds,
    build,
    of_nodes,
    registered,
)
from oracle import D, X
from paper.layers import DTRNN, MVRNN, RecursiveNetwork

NAMES = registered("paper")


@pytest.mark.parametrize("name", of_nodes(NAMES))
def test_weights_start_within_the_papers_bounds(name: str) -> None:
    for module in build(name).modules():
        # the networks of Socher et al. start their children's maps as the identity
        if isinstance(module, UniformInit) and not isinstance(module, RecursiveNetwork | MVRNN):
            assert_within_the_papers_bounds(module)


def test_a_weight_is_as_wide_as_what_it_reads() -> None:
    fans = DTRNN(X, D)._fan_in
    assert fans["W"] == X
    assert {fans[weight] for weight in ("U", "b_U")} == {D}


@pytest.mark.parametrize("name", NAMES)
def test_device_and_dtype_are_taken(name: str) -> None:
    assert_device_and_dtype_are_taken(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_of_an_empty_forest_has_a_gradient(name: str) -> None:
    assert_the_loss_of_an_empty_forest_has_a_gradient(name)
