"""The draws of a parser: a tiny training has the pinned weights and losses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import small_parser
from bough.text.builtin.network import Network
from drift import assert_pinned, traced


def test_a_parser_draws_as_it_did(tmp_path: Path, pin: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(small_parser.CONFIG, epochs=2, word_dropout=0.1, recurrent_dropout=0.1)
    build = Network.__init__

    def build_double(network: Network, *arguments: Any, **options: Any) -> None:
        build(network, *arguments, **options)
        network.dtype = torch.float64

    monkeypatch.setattr(Network, "__init__", build_double)
    with traced() as trace:
        small_parser.train(tmp_path, config)
    assert_pinned("parser", trace, pin)
