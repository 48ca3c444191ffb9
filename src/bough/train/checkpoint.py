"""The state of a training run between two epochs, and its checkpoint, replaced atomically."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bough.errors import FormatError
from bough.files import read_tensors_and_metadata, write_tensors
from bough.train.distributed import current
from bough.train.optimizer import Optimizer

NAME = "checkpoint.safetensors"
_FACTS = ("epoch", "seconds", "best_epoch", "best_score", "best_dev", "history")


@dataclass
class TrainingState:
    """The state of a run: weights, optimizer, random generators and history.

    Args:
        optimizer: the optimizer, with the model that it trains.
        seed: the seed of `rng`, which draws the order of examples and the sampled phrases.
    """

    optimizer: Optimizer
    seed: int
    epoch: int = 0  # epochs done
    seconds: float = 0.0
    best_epoch: int = 0
    best_score: float | None = None
    best_dev: dict[str, float] = field(default_factory=dict)
    best: dict[str, Tensor] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    @property
    def model(self) -> nn.Module:
        """The model that is trained."""
        return self.optimizer.model

    def finish_epoch(self, loss: float, dev: dict[str, float], score: float, seconds: float) -> None:
        """Record an epoch, and keep its weights if its score on dev is the highest so far."""
        self.epoch += 1
        self.seconds = seconds
        if self.best_score is None or score > self.best_score:  # the first of equal epochs is kept
            self.best_score, self.best_epoch, self.best_dev = score, self.epoch, dev
            self.best = {name: tensor.clone() for name, tensor in self._weights().items()}
        self.history.append({"epoch": self.epoch, "loss": loss, **{f"dev_{k}": v for k, v in dev.items()}})

    def use_best(self) -> None:
        """Load the weights of the best epoch into the model."""
        self.model.load_state_dict({**self.model.state_dict(), **self.best})
        self.optimizer.finish()

    def history_text(self) -> str:
        """Return the history as JSON lines, one object per epoch."""
        return "".join(json.dumps(line) + "\n" for line in self.history)

    def store(self, out: Path) -> None:
        """Write the checkpoint to a folder."""
        tensors = {f"model.{name}": t.cpu() for name, t in self._weights().items()}
        tensors |= {f"best.{name}": t.cpu() for name, t in self.best.items()}
        tensors |= {f"optimizer.{name}": t.cpu() for name, t in self.optimizer.state().items()}
        # with both random generators a resumed run gives the same bytes as an uninterrupted one
        tensors["torch_rng"] = torch.get_rng_state()
        facts = {name: getattr(self, name) for name in _FACTS}
        facts["rng"] = self.rng.bit_generator.state
        write_tensors(out / NAME, tensors, {"progress": json.dumps(facts)})

    def restore(self, out: Path) -> None:
        """Load the checkpoint of a folder, if any. Raise a FormatError if it does not fit."""
        path = out / NAME
        found = current().from_first(lambda: read_tensors_and_metadata(path) if path.exists() else None)
        if found is None:
            return
        tensors, metadata = found

        def part(prefix: str) -> dict[str, Tensor]:
            return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}

        try:
            facts = json.loads(metadata["progress"])
            epochs = [line["epoch"] for line in facts["history"]]
            if epochs != [*range(1, facts["epoch"] + 1)] or not 1 <= facts["best_epoch"] <= facts["epoch"]:
                raise ValueError(f"epoch {facts['epoch']} is not the last of its history")
            own, weights = self.model.state_dict(), self._weights()
            for prefix in ("best.", "model."):
                stored = part(prefix)
                if stored.keys() != weights.keys() or not all(t.isfinite().all() for t in stored.values()):
                    raise ValueError(f"other weights {prefix}*, or a NaN or an infinity in them")
                self.model.load_state_dict({**own, **stored})
            self.best = {name: t.to(own[name].device) for name, t in part("best.").items()}
            self.optimizer.load(part("optimizer."))
            torch.set_rng_state(tensors["torch_rng"])
            self.rng.bit_generator.state = facts["rng"]
            for name in _FACTS:
                setattr(self, name, facts[name])
        except (LookupError, TypeError, AttributeError, ValueError, RuntimeError, OverflowError) as error:
            what = f"a checkpoint of another run or version of bough ({' '.join(str(error).split())})"
            raise FormatError(f"{what}; train anew in another folder", where=str(path)) from None

    def _weights(self) -> dict[str, Tensor]:
        fixed = self.optimizer.fixed
        return {name: tensor for name, tensor in self.model.state_dict().items() if name not in fixed}
