"""A training run on disk: one safetensors file, replaced as a whole, no pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bough.errors import FormatError
from bough.files import read_tensors_and_metadata, write_tensors


class Checkpoint:
    """Weights, their average and Adam's moments, with the run's progress in the file's header."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(
        self, progress: dict[str, Any], now: nn.Module, average: nn.Module, optimiser: torch.optim.Optimizer
    ) -> None:
        """Replace the file; a kill at any time leaves the old one or the new one."""
        tensors: dict[str, Tensor] = {}
        for name, parameter in now.named_parameters():
            tensors[f"now.{name}"] = parameter.detach()
            state = optimiser.state.get(parameter, {})
            tensors |= {f"{key}.{name}": value for key, value in state.items()}
        tensors |= {f"average.{name}": parameter.detach() for name, parameter in average.named_parameters()}
        write_tensors(
            self.path,
            {name: tensor.contiguous() for name, tensor in tensors.items()},
            {"progress": json.dumps(progress)},
        )

    def read(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the progress and the tensors in the file; a truncated file is a FormatError."""
        tensors, metadata = read_tensors_and_metadata(self.path)
        try:
            return json.loads(metadata["progress"]), tensors
        except (KeyError, ValueError) as error:
            raise FormatError(f"not a checkpoint of a parser: {error}", where=str(self.path)) from None

    @torch.no_grad()
    def restore(
        self,
        tensors: dict[str, Tensor],
        now: nn.Module,
        average: nn.Module,
        optimiser: torch.optim.Optimizer,
    ) -> None:
        """Copy tensors of `read` into the weights, their average and the optimiser."""
        try:
            for name, parameter in average.named_parameters():
                parameter.copy_(tensors[f"average.{name}"])
            for name, parameter in now.named_parameters():
                parameter.copy_(tensors[f"now.{name}"])
                keys = [key for key in ("step", "exp_avg", "exp_avg_sq") if f"{key}.{name}" in tensors]
                if keys:
                    optimiser.state[parameter] = {key: tensors[f"{key}.{name}"] for key in keys}
        except (KeyError, RuntimeError) as error:
            raise FormatError(f"not a checkpoint of this run: {error}", where=str(self.path)) from None
