"""The optimizer of a model: `torch.optim` for its weights, and the rows of its word table on their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from bough.models.model import ENCODER, Model
from bough.train.config import TrainConfig

OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "adagrad": torch.optim.Adagrad,
    "adadelta": torch.optim.Adadelta,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


def adagrad(
    parameters: Iterable[Tensor], lr: float = 0.05, weight_decay: float = 1e-4
) -> torch.optim.Adagrad:
    """Return the paper's optimizer, in one pass over the memory."""
    return torch.optim.Adagrad(parameters, lr=lr, weight_decay=weight_decay, fused=True)


class ModelOptimizer:
    """Moves the weights of a model, and its word vectors unless they are fixed.

    The gradient of the word table is sparse: it has the rows that a batch read. By `embedding_optimizer = "plain"` they
    go straight down the gradient; by "rows" the optimizer of the weights moves them, with weight decay, and all other
    rows and their state stay as they are.
    """

    def __init__(self, model: Model, config: TrainConfig) -> None:
        self.model, self.config = model, config
        self.kind = OPTIMIZERS[config.optimizer]
        self.options: dict[str, Any] = {"weight_decay": config.weight_decay}
        if config.optimizer == "adadelta":
            self.options |= {"rho": 0.95}
        else:
            self.options |= {"fused": model.table.device.type == "cpu"}
        if config.optimizer in ("adam", "adamw"):
            self.options |= {"betas": (0.9, config.beta2)}
        own = [p for name, p in model.named_parameters() if not name.startswith(f"{ENCODER}.")]
        groups: list[dict[str, Any]] = [{"params": own, "lr": config.learning_rate}]
        if model.encoder is not None:
            rates = model.encoder.rates(config.encoder_learning_rate, config.encoder_lr_decay)
            groups += [{"params": [*tensors.values()], "lr": rate} for tensors, rate in rates]
        self.weights = self.kind(groups, lr=config.learning_rate, **self.options)  # type: ignore[call-arg]
        self.base = [group["lr"] for group in self.weights.param_groups]
        self.rows: dict[str, Tensor] = {}  # the state of the word table, by name
        model.table.requires_grad_(config.embeddings != "fixed" and model.encoder is None)

    def zero_grad(self) -> None:
        """Forget the gradients of the last batch."""
        self.weights.zero_grad()
        self.model.table.grad = None

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:
        """Move everything that has a gradient, at `scale` times its learning rate."""
        table, config = self.model.table, self.config
        if config.max_grad_norm:
            self._clip()
        for group, lr in zip(self.weights.param_groups, self.base, strict=True):
            group["lr"] = lr * scale
        self.weights.step()
        if config.max_norm:
            self.model.head.W_s.renorm_(2, 0, config.max_norm)  # type: ignore[operator]
        if table.grad is None:
            return
        if config.embedding_optimizer == "plain":
            lr = config.embedding_learning_rate * scale
            # linear in the gradient: each one is added where it belongs, equal rows or not
            table.index_add_(0, table.grad._indices()[0], table.grad._values(), alpha=-lr)
        else:
            self._step_rows(config.embedding_learning_rate * scale)

    def _step_rows(self, lr: float) -> None:
        """Let the optimizer move just the rows that have a gradient, with their rows of its state."""
        table = self.model.table
        assert table.grad is not None
        gradient = table.grad.coalesce()
        rows = gradient.indices()[0]
        part = table.detach().index_select(0, rows).requires_grad_()
        part.grad = gradient.values()
        optimizer = self.kind([part], lr=lr, **self.options)  # type: ignore[call-arg]
        if self.rows:
            optimizer.state[part] = {
                name: state.index_select(0, rows) if state.dim() else state
                for name, state in self.rows.items()
            }
        optimizer.step()
        table.index_copy_(0, rows, part)
        for name, state in optimizer.state[part].items():
            if not state.dim():
                self.rows[name] = state
                continue
            whole = self.rows.setdefault(name, state.new_zeros(len(table), *state.shape[1:]))
            whole.index_copy_(0, rows, state)

    def _clip(self) -> None:
        """Scale all gradients so that their norm together is at most `max_grad_norm`."""
        gradients = [
            p.grad for group in self.weights.param_groups for p in group["params"] if p.grad is not None
        ]
        if self.model.table.grad is not None:
            self.model.table.grad = (
                self.model.table.grad.coalesce()
            )  # a row that was read twice has one gradient
            gradients.append(self.model.table.grad.values())
        norm = float(torch.nn.utils.get_total_norm(gradients)) if gradients else 0.0
        if norm > self.config.max_grad_norm:
            for gradient in gradients:
                gradient.mul_(self.config.max_grad_norm / norm)

    def reset(self) -> None:
        """Forget all state, as before the first step."""
        for tensor in self.state().values():
            tensor.zero_()

    def state(self) -> dict[str, Tensor]:
        """Return every tensor of the state, by the name of its parameter and its own."""
        names: dict[Tensor, str] = {p: name for name, p in self.model.named_parameters()}
        found = {
            f"{names[p]}.{slot}": tensor
            for p, state in self.weights.state.items()
            for slot, tensor in state.items()
        }
        return found | {f"table.{slot}": tensor for slot, tensor in self.rows.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `state` returned. Raise a ValueError for the state of another optimizer."""
        parameters = dict(self.model.named_parameters())
        for full, tensor in tensors.items():
            name, _, slot = full.rpartition(".")
            if name == "table":
                self.rows[slot] = tensor.to(self.model.table.device)
                continue
            if name not in parameters or (tensor.dim() and tensor.shape != parameters[name].shape):
                raise ValueError(f"{full} {tuple(tensor.shape)} is not of this optimizer")
            self.weights.state[parameters[name]][slot] = tensor.to(
                parameters[name].device if tensor.dim() else "cpu"
            )


def lr_scale(config: TrainConfig, step: int, an_epoch: int) -> float:
    """Return the factor on the learning rates in step 0, 1, ... of a run with `an_epoch` steps per epoch.

    `lr_decay` shrinks them after each epoch. With `warmup` they also rise in a line over that share of the run, then
    fall in a line to its end.
    """
    decay = config.lr_decay ** (step // an_epoch)
    if not config.warmup:
        return decay
    total = config.epochs * an_epoch
    rise = max(1.0, config.warmup * total)
    return decay * min((step + 1) / rise, (total - step) / (total + 1 - rise))
