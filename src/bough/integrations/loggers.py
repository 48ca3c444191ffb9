"""Log the epochs of a fit to TensorBoard or MLflow: `bough.fit(..., callbacks=[TensorBoardLogger("runs/1")])`."""

from pathlib import Path
from typing import Any

from bough.train.dataset import Parsed
from bough.train.loop import Event


class TensorBoardLogger:
    """Write the training loss and the metrics of dev after each epoch; needs the extra `tensorboard`.

    Args:
        folder: where TensorBoard finds them.

    Examples:
        >>> from bough.integrations.loggers import TensorBoardLogger
        >>> mine = bough.fit(texts, labels, callbacks=[TensorBoardLogger("runs/1")])  # doctest: +SKIP
    """

    def __init__(self, folder: Path | str) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ImportError('TensorBoard is missing: pip install "bough[tensorboard]"') from error
        self.writer: Any = SummaryWriter(str(folder))

    def __call__(self, event: Parsed | Event) -> None:
        for name, value in epoch_metrics(event).items():
            self.writer.add_scalar(name, value, event.epoch)  # type: ignore[union-attr]
        self.writer.flush()


class MLflowLogger:
    """Log the training loss and the metrics of dev after each epoch to the active run; needs the extra `mlflow`.

    Examples:
        >>> from bough.integrations.loggers import MLflowLogger
        >>> mine = bough.fit(texts, labels, callbacks=[MLflowLogger()])  # doctest: +SKIP
    """

    def __init__(self) -> None:
        try:
            import mlflow
        except ImportError as error:
            raise ImportError('MLflow is missing: pip install "bough[mlflow]"') from error
        self.mlflow: Any = mlflow

    def __call__(self, event: Parsed | Event) -> None:
        if metrics := epoch_metrics(event):
            self.mlflow.log_metrics(metrics, step=event.epoch)  # type: ignore[union-attr]


def epoch_metrics(event: Parsed | Event) -> dict[str, float]:
    """Return the training loss and the metrics of dev after an epoch; nothing for other events."""
    if not isinstance(event, Event) or event.dev is None:
        return {}
    return {"train/loss": event.loss, **{f"dev/{name}": value for name, value in event.dev.items()}}
