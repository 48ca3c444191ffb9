"""Rules by which weights learn, and the optimiser that a configuration asks for."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from bough.models.model import ENCODER, Model
from bough.train.config import TrainConfig
from bough.train.optimisers.optimiser import Group, Optimiser
from bough.train.optimisers.rules import AdaDelta, AdaGrad, Adam, AdamW, Plain, Rule

RULES: dict[str, type[Rule]] = {"adagrad": AdaGrad, "adadelta": AdaDelta, "adam": Adam, "adamw": AdamW}


def adagrad(parameters: Iterable[Tensor], rate: float = 0.05, l2: float = 1e-4) -> Optimiser:
    """The paper's: from zero, the L2 coupled and on biases too."""
    named = {str(i): parameter for i, parameter in enumerate(parameters)}
    return Optimiser([Group(named, AdaGrad(), rate, l2)])


def optimiser_for(model: Model, config: TrainConfig) -> Optimiser:
    """What moves the weights of a model, and its word vectors unless they are fixed.

    The gradient of the table is sparse: it has the rows that a batch read. By the plain rule they go straight
    down; with `embedding_optimizer = "rows"` the weights' own rule and L2 move them.
    """
    adam = config.optimizer in ("adam", "adamw")
    rule = RULES[config.optimizer](**{"beta2": config.beta2} if adam else {})
    weights = {name: p for name, p in model.named_parameters() if not name.startswith(f"{ENCODER}.")}
    bounded = {"head.W_s": weights.pop("head.W_s")} if config.max_norm else {}
    groups = [Group(weights, rule, config.learning_rate, config.weight_decay)]
    groups.append(Group(bounded, rule, config.learning_rate, config.weight_decay, config.max_norm))
    if model.encoder is not None:
        for tensors, rate in model.encoder.rates(config.encoder_learning_rate, config.encoder_lr_decay):
            groups.append(
                Group(
                    {f"{ENCODER}.{name}": p for name, p in tensors.items()}, rule, rate, config.weight_decay
                )
            )
    model.table.requires_grad_(config.embeddings != "fixed" and model.encoder is None)
    if model.table.requires_grad:
        # NOTE(paper): the text has AdaGrad and L2; the released program moves words by plain descent without L2.
        plain = config.embedding_optimizer == "plain"
        how, l2 = (Plain(), 0.0) if plain else (rule, config.weight_decay)
        groups.append(Group({"table": model.table}, how, config.embedding_learning_rate, l2))
    return Optimiser(groups, clip=config.max_grad_norm)


def rate_scale(config: TrainConfig, step: int, an_epoch: int) -> float:
    """What the rates are multiplied by in step 0, 1, ... of a run that has `an_epoch` steps per epoch.

    `decay` shrinks them after each epoch. With `warmup` they also rise in a line over that share of the run,
    then fall in a line to its end.
    """
    decay = config.lr_decay ** (step // an_epoch)
    if not config.warmup:
        return decay
    total = config.epochs * an_epoch
    rise = max(1.0, config.warmup * total)
    return decay * min((step + 1) / rise, (total - step) / (total + 1 - rise))
