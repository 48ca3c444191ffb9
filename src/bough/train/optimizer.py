"""Optimizers of `torch.optim` for the training loop, with sparse updates of a word table."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Adadelta, Adagrad, Adam, AdamW

from bough.models.model import ENCODER, Model
from bough.train.config import TrainConfig

OPTIMIZERS: dict[str, Any] = {kind.__name__.lower(): kind for kind in (Adadelta, Adagrad, Adam, AdamW)}


def adagrad(parameters: Iterable[Tensor], lr: float = 0.05, weight_decay: float = 1e-4) -> Adagrad:
    """Return the paper's optimizer, AdaGrad, in its fused implementation."""
    return Adagrad(parameters, lr=lr, weight_decay=weight_decay, fused=True)


class Optimizer:
    """An optimizer of `torch.optim` with a learning rate per step, and a state by parameter name."""

    fixed: frozenset[str] = frozenset()  # tensors of the model that training does not change

    def __init__(self, model: nn.Module, weights: torch.optim.Optimizer) -> None:
        self.model, self.weights = model, weights
        self.base = [group["lr"] for group in weights.param_groups]

    def start_epoch(self, epoch: int) -> None:
        """Prepare for epoch 0, 1, ..."""

    def lr_scale(self, step: int, steps_per_epoch: int) -> float:
        """Return the factor on the learning rates in step 0, 1, ... of the run."""
        return 1.0

    def zero_grad(self) -> None:
        """Clear the gradients of the last batch."""
        self.weights.zero_grad()

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:
        """Update all parameters, with `scale` times their learning rates."""
        for group, lr in zip(self.weights.param_groups, self.base, strict=True):
            group["lr"] = lr * scale
        self.weights.step()

    def finish(self) -> None:
        """Round the weights of the best epoch to the precision in which they are saved."""

    def state(self) -> dict[str, Tensor]:
        """Return the tensors of the state, named by their parameters and slots."""
        names: dict[Tensor, str] = {p: name for name, p in self.model.named_parameters()}
        states = self.weights.state.items()
        return {f"{names[p]}.{slot}": tensor for p, state in states for slot, tensor in state.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Load what `state` returned. Raise a ValueError for the state of another optimizer."""
        parameters = dict(self.model.named_parameters())
        for full, tensor in tensors.items():
            name, _, slot = full.rpartition(".")
            if name not in parameters or (tensor.dim() and tensor.shape != parameters[name].shape):
                raise ValueError(f"{full} {tuple(tensor.shape)} is not of this optimizer")
            device = parameters[name].device if tensor.dim() else "cpu"
            self.weights.state[parameters[name]][slot] = tensor.to(device)


class ModelOptimizer(Optimizer):
    """The optimizer of a model and, unless they are fixed, of its word vectors.

    The gradient of the word table is sparse: it has the rows that a batch reads. With `embedding_optimizer = "plain"`
    they are updated by gradient descent. With "rows" they are updated by the optimizer of the
    weights, with weight decay; other rows and their state do not change.
    """

    model: Model

    def __init__(self, model: Model, config: TrainConfig) -> None:
        self.config, self.kind = config, OPTIMIZERS[config.optimizer]
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
        super().__init__(model, self.kind(groups, lr=config.learning_rate, **self.options))
        self.rows: dict[str, Tensor] = {}  # the state of the word table, by name
        self.fixed = frozenset(["table"] if config.embeddings == "fixed" else [])
        model.table.requires_grad_(config.embeddings != "fixed" and model.encoder is None)

    def start_epoch(self, epoch: int) -> None:
        """Set the state to zero every `adagrad_reset_every` epochs."""
        if self.config.adagrad_reset_every and epoch % self.config.adagrad_reset_every == 0:
            for tensor in self.state().values():
                tensor.zero_()

    def lr_scale(self, step: int, steps_per_epoch: int) -> float:
        """Return the factor on the learning rates in step 0, 1, ... of the run.

        It is multiplied by `lr_decay` after each epoch. With `warmup`, it also rises linearly over
        that share of the run, and then falls linearly to the end.
        """
        decay = self.config.lr_decay ** (step // steps_per_epoch)
        if not self.config.warmup:
            return decay
        total = self.config.epochs * steps_per_epoch
        rise = max(1.0, self.config.warmup * total)
        return decay * min((step + 1) / rise, (total - step) / (total + 1 - rise))

    def zero_grad(self) -> None:
        super().zero_grad()
        self.model.table.grad = None

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:
        table, config = self.model.table, self.config
        if config.max_grad_norm:
            self._clip()
        super().step(scale)
        if config.max_norm:
            self.model.head.W_s.renorm_(2, 0, config.max_norm)
        if table.grad is None:
            return
        lr = config.embedding_learning_rate * scale
        if config.embedding_optimizer == "plain":
            # a row may occur several times in the gradient; then it is added several times
            table.index_add_(0, table.grad._indices()[0], table.grad._values(), alpha=-lr)
        else:
            self._step_rows(lr)

    def _step_rows(self, lr: float) -> None:
        """Update only the rows that have a gradient, with their rows of the state."""
        table = self.model.table
        assert table.grad is not None
        gradient = table.grad.coalesce()
        rows = gradient.indices()[0]
        part = table.detach().index_select(0, rows).requires_grad_()
        part.grad = gradient.values()
        optimizer = self.kind([part], lr=lr, **self.options)
        for name, state in self.rows.items():
            optimizer.state[part][name] = state.index_select(0, rows) if state.dim() else state
        optimizer.step()
        table.index_copy_(0, rows, part)
        for name, state in optimizer.state[part].items():
            if state.dim():
                whole = self.rows.setdefault(name, state.new_zeros(len(table), *state.shape[1:]))
                whole.index_copy_(0, rows, state)
            else:
                self.rows[name] = state

    def _clip(self) -> None:
        """Scale all gradients so that their total norm is at most `max_grad_norm`."""
        weights = [p for group in self.weights.param_groups for p in group["params"]]
        gradients = [p.grad for p in weights if p.grad is not None]
        table = self.model.table
        if table.grad is not None:
            table.grad = table.grad.coalesce()  # a row may occur several times
            gradients.append(table.grad.values())
        norm = float(torch.nn.utils.get_total_norm(gradients)) if gradients else 0.0
        if norm > self.config.max_grad_norm:
            for gradient in gradients:
                gradient.mul_(self.config.max_grad_norm / norm)

    def finish(self) -> None:
        if self.model.encoder is not None:
            self.model.encoder.round()

    def state(self) -> dict[str, Tensor]:
        return super().state() | {f"table.{slot}": tensor for slot, tensor in self.rows.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        rows = {name: tensor for name, tensor in tensors.items() if name.startswith("table.")}
        super().load({name: tensor for name, tensor in tensors.items() if name not in rows})
        for name, tensor in rows.items():
            self.rows[name.removeprefix("table.")] = tensor.to(self.model.table.device)
