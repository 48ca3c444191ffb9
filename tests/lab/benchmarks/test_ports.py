"""The benchmark of the ports: both sides compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import ports


@pytest.mark.parametrize("make", ports.MADE, ids=lambda make: make.__name__)
def test_plain_pytorch_has_the_outputs_and_gradients_of_the_port(make: Any) -> None:
    torch.manual_seed(0)
    port = make(np.random.default_rng(0), batches=1, scale=0.1)
    assert ports.largest_difference(port, 0) < 1e-4


def test_every_port_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ports, "MADE", (ports.tree_convolution, ports.rumour_trees))
    result = ports.run_ports(batches=1, rounds=1, scale=0.02)
    assert list(result["ports"]) == ["tree_convolution", "rumour_trees"]
    ratios = [port["plain"] / port["bough"] for port in result["ports"].values()]
    assert result["least"] == pytest.approx(min(ratios), rel=0.05)
    ports.show(result)
    assert "rumour_trees" in capsys.readouterr().out
