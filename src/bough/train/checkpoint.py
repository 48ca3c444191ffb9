"""The whole state of a run between two epochs, in one file that is written in one piece."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough.errors import FormatError
from bough.files import read_tensors_and_metadata, write_tensors
from bough.models.model import Model
from bough.train.config import TrainConfig
from bough.train.distributed import current
from bough.train.optimizer import ModelOptimizer

NAME = "checkpoint.safetensors"


@dataclass
class Progress:
    """A run as far as it has come. One seed drives `rng` (order, spans) and torch's generator (init, dropout)."""

    model: Model
    config: TrainConfig
    optimizer: ModelOptimizer
    rng: np.random.Generator
    metric: str  # the figure of dev that picks the epoch, unless the loss does
    epoch: int = 0  # epochs done
    seconds: float = 0.0
    best_epoch: int = 0
    best_score: float | None = None
    best_dev: dict[str, float] = field(default_factory=dict)
    best: dict[str, Tensor] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def start(cls, model: Model, config: TrainConfig, seed: int, metric: str) -> Progress:
        """Epoch 0."""
        return cls(model, config, ModelOptimizer(model, config), np.random.default_rng(seed), metric)

    def finish_epoch(self, loss: float, dev: dict[str, float], seconds: float) -> None:
        """Count it, and keep the model if dev likes it better than every one before."""
        self.epoch += 1
        self.seconds = seconds
        score = self._score(dev)
        if self.best_score is None or score > self.best_score:  # the first best stays
            self.best_score, self.best_epoch, self.best_dev = score, self.epoch, dev
            self.best = {name: tensor.clone() for name, tensor in self._learned().items()}
        self.history.append({"epoch": self.epoch, "loss": loss, **{f"dev_{k}": v for k, v in dev.items()}})

    @property
    def stalled(self) -> bool:
        """Whether dev has waited longer for a better epoch than `patience` allows."""
        patience = self.config.patience
        return patience > 0 and self.epoch - self.best_epoch >= patience

    def use_best(self) -> None:
        """Put the weights that dev chose into the model."""
        self.model.load_state_dict({**self.model.state_dict(), **self.best})
        if self.model.encoder is not None:
            self.model.encoder.round()  # to what its folder will hold

    def history_text(self) -> str:
        """One JSON object per epoch."""
        return "".join(json.dumps(line) + "\n" for line in self.history)

    def _score(self, dev: dict[str, float]) -> float:
        if self.config.select_by == "loss":
            return -dev["loss"] if "loss" in dev else -dev["mse"]
        return dev[self.metric]

    def _learned(self) -> dict[str, Tensor]:
        fixed = self.model.config.embeddings == "fixed"
        return {name: t for name, t in self.model.state_dict().items() if not (fixed and name == "table")}


def store(out: Path, progress: Progress) -> None:
    """Write the checkpoint."""
    tensors = {f"model.{name}": t.cpu() for name, t in progress._learned().items()}
    tensors |= {f"best.{name}": t.cpu() for name, t in progress.best.items()}
    tensors |= {f"optimizer.{name}": t.cpu() for name, t in progress.optimizer.state().items()}
    tensors["torch_rng"] = torch.get_rng_state()
    facts = {name: getattr(progress, name) for name in ("epoch", "seconds", *_BEST, "history")}
    facts["rng"] = progress.rng.bit_generator.state
    write_tensors(out / NAME, tensors, {"progress": json.dumps(facts)})


_BEST = ("best_epoch", "best_score", "best_dev")


def restore(out: Path, progress: Progress) -> None:
    """Go on from the checkpoint, if one was written; a torn one is a FormatError, never a silent fresh start."""
    path = out / NAME
    found = current().from_first(lambda: read_tensors_and_metadata(path) if path.exists() else None)
    if found is None:
        return
    tensors, metadata = found
    try:
        facts = json.loads(metadata["progress"])
        model = progress.model
        model.load_state_dict({**model.state_dict(), **_part(tensors, "model.")})
        progress.best = {name: t.to(model.table.device) for name, t in _part(tensors, "best.").items()}
        progress.optimizer.load(_part(tensors, "optimizer."))
        torch.set_rng_state(tensors["torch_rng"])
        progress.rng.bit_generator.state = facts.pop("rng")
        for name, value in facts.items():
            setattr(progress, name, value)
    except (KeyError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(
            f"a checkpoint of another run or version of bough ({reason}); train anew in another folder",
            where=str(path),
        ) from None


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
