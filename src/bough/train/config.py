"""The configuration of a training run: that of the model, and that of its training."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from bough.models.config import Config
from bough.models.settings import in_range


@dataclass(frozen=True)
class TrainConfig(Config):
    """The configuration of a model and of its training. The defaults are the paper's values."""

    epochs: int = 10
    batch_size: int = 25
    optimizer: Literal["adagrad", "adadelta", "adam", "adamw"] = "adagrad"
    learning_rate: float = 0.05  # for AdaGrad; AdaDelta wants about 1, Adam and AdamW about 0.001
    lr_decay: float = 1.0  # factor on all learning rates after each epoch
    beta2: float = 0.999  # of Adam and AdamW
    warmup: float = 0.0  # share of the run in which the learning rates rise linearly; then they fall
    adagrad_reset_every: int = 0  # epochs after which AdaGrad's sums restart; 0 for never
    max_grad_norm: float = 0.0  # 0 for no clipping
    # how word vectors move: by plain gradient descent, or by the optimizer of the other weights
    embedding_optimizer: Literal["plain", "rows"] = "plain"
    embedding_learning_rate: float = 0.1
    encoder_learning_rate: float = 5e-5  # of the top layer of a transformer
    encoder_lr_decay: float = 0.9  # factor from each of its layers to the one below
    weight_decay: float = 1e-4
    # the loss of the labelled nodes is divided by the number of trees or of labelled nodes
    loss_over: Literal["trees", "nodes"] = "trees"
    max_norm: float = 0.0  # maximum norm of a class's weights in the classifier; 0 for none
    select_by: Literal["score", "loss"] = "score"  # what chooses the epoch on dev
    patience: int = 0  # epochs without a better one after which training stops; 0 for never

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range(self, "at least 1", "epochs", "batch_size")
        in_range(self, "0 or more", "weight_decay", "adagrad_reset_every", "max_grad_norm")
        in_range(self, "0 or more", "embedding_learning_rate", "encoder_learning_rate")
        in_range(self, "0 or more", "max_norm", "patience")
        in_range(self, "more than 0", "learning_rate", "lr_decay", "encoder_lr_decay")
        in_range(self, "at least 0, below 1", "warmup", "beta2")
        if self.adagrad_reset_every and self.optimizer != "adagrad":
            reset = f"adagrad_reset_every = {self.adagrad_reset_every}"
            raise ValueError(f"{reset} is for optimizer = 'adagrad'; here it is {self.optimizer!r}")

    def for_model(self) -> Config:
        """Return the configuration of the model."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(Config)}
        return Config(**values)
