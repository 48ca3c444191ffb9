"""Claims about the progress display: an epoch is one line of a terminal."""

import io

import pytest
from rich.console import Console

from bough.cli.progress import TrainingDisplay
from bough.train.loop import Event

NUMBERS = {"mae": 123456.5, "rmse": 234567.25, "r2": 0.5, "spearman": 0.75, "loss": 0.0250}
LABELS = {"micro_f1": 0.5, "macro_f1": 0.25, "exact": 0.125, "loss": 0.5}


@pytest.mark.parametrize("dev", [NUMBERS, LABELS], ids=["numbers", "labels"])
def test_an_epoch_is_a_line_of_80_columns(dev: dict[str, float]) -> None:
    text = io.StringIO()
    with TrainingDisplay(Console(file=text, width=80)) as display:
        display.show(Event(30, 30, 5000, 5000, 0.0485, 12149.0, dev))
    (line,) = text.getvalue().splitlines()
    (first, a), (second, b), *_ = dev.items()
    assert line == f"epoch 30  12,149/s  loss 0.0485  dev: {first} {a:.4f}  {second} {b:.4f}"
