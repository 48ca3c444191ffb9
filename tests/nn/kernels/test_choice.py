"""What computes the layers: by the environment, and by what can be loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

import bough
import bough.nn.kernels
from bough.nn import Children
from bough.nn.kernels import loader as library
from kernel_cases import needs_c


@needs_c
@pytest.mark.parametrize(("asked", "way"), [("0", "equations"), ("1", "c"), ("", "c")])
def test_the_environment_chooses(asked: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", asked)
    assert bough.nn.kernels.path() == way
    assert bough.nn.kernels.why().startswith(way)


class Halved(bough.nn.ChildSumTreeLSTM):
    def gated(self, a: Tensor, h_sum: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        h, c = super().gated(a, h_sum, below)
        return h / 2, c


class Down(bough.nn.ChildSumTreeLSTM):
    from_roots = True


class DownByPlace(bough.nn.NaryTreeLSTM):
    from_roots = True


@pytest.mark.parametrize("layer", [Halved(3, 4), Down(3, 4), DownByPlace(3, 4, leaf="gated")], ids=str)
@pytest.mark.parametrize("keys", [None, [[1, 2, 1], [1, 2, 1]]])
def test_equations_that_were_changed_or_turned_round_are_what_is_computed(
    layer: bough.nn.TreeLayer, keys: list[list[int]] | None
) -> None:
    forest = bough.Forest([bough.Tree([1, -1, 1]), bough.Tree([1, -1, 1])], keys=keys)
    x = torch.randn(3, 3).repeat(2, 1)
    if keys is not None:
        x[2] = x[5] = x[0]
    bough.nn.ChildSumTreeLSTM(3, 4)(x, forest)  # leaves its own plan with the forest
    found = layer(x, forest)
    layer.fast = False
    for one, other in zip(found, layer(x, forest), strict=True):
        torch.testing.assert_close(one, other)
    layer.fast = True


def test_an_unknown_choice_names_the_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "fortran")
    with pytest.raises(ValueError, match=r"BOUGH_FAST=fortran: 0 \(the equations\) or 1 \(C\)"):
        bough.nn.kernels.path()


def test_what_does_not_load_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(library.Unavailable, match="not compiled"):
        library.load(tmp_path)
    (tmp_path / "_kernel.so").write_bytes(b"no library")
    with pytest.raises(library.Unavailable, match=r"_kernel\.so does not load"):
        library.load(tmp_path)


@needs_c
def test_without_a_blas_to_trust_the_compiled_code_multiplies(monkeypatch: pytest.MonkeyPatch) -> None:
    class Torch:
        @staticmethod
        def sgemm_(*arguments: object) -> None:
            """Leaves the product as it was."""

    for torch_cpu in (Torch, object):
        monkeypatch.setattr(library, "_torch_cpu", torch_cpu)
        found = library.load(library.FOLDER)
        assert (found.blas, found.gemm, found.set_threads) == ("", 0, 0)


@needs_c
def test_a_library_of_other_sources_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = library.FOLDER
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    (tmp_path / "kernel.c").write_text("int other;")
    with pytest.raises(library.Unavailable, match="was compiled from other sources; install bough again"):
        library.load(kept)


def test_without_the_library_the_equations_run_and_one_line_is_logged(tmp_path: Path) -> None:
    code = f"""
import logging, pathlib, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
from bough.nn.kernels import loader as library
library.FOLDER = pathlib.Path({str(tmp_path)!r})
import torch, bough
layer = bough.nn.ChildSumTreeLSTM(2, 3)
for _ in range(2):
    layer(torch.randn(2, 2), bough.Forest([bough.Tree([-1, 0])]))
assert library.path() == "equations"
import os
os.environ["BOUGH_FAST"] = "1"
try:
    library.path()
except RuntimeError as error:
    print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], env=_environment(), check=True, capture_output=True, text=True
    )
    logged, error = ran.stdout.splitlines()
    assert "no compiled code, layers run by their equations" in logged
    assert error.startswith("BOUGH_FAST=1, but there is no compiled code: it was not compiled")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "BOUGH_FAST"}
