"""Claims about the loggers: TensorBoard and MLflow get the loss and the metrics of dev of every epoch."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bough
from bough.integrations.loggers import MLflowLogger, TensorBoardLogger
from small_fits import QUICK, examples


def fit(logger: Any) -> None:
    bough.fit(*examples(20), trees="none", settings=QUICK, epochs=2, callbacks=[logger])


def test_tensorboard_reads_what_was_logged(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    fit(TensorBoardLogger(tmp_path))
    found = EventAccumulator(str(tmp_path)).Reload()
    assert {"train/loss", "dev/accuracy", "dev/loss"} <= {*found.Tags()["scalars"]}
    assert [scalar.step for scalar in found.Scalars("dev/accuracy")] == [1, 2]


def test_mlflow_gets_each_epoch_as_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[tuple[int, dict[str, float]]] = []
    package = SimpleNamespace(log_metrics=lambda metrics, step: logged.append((step, metrics)))
    monkeypatch.setitem(sys.modules, "mlflow", package)
    fit(MLflowLogger())
    assert [step for step, _ in logged] == [1, 2]
    assert {"train/loss", "dev/accuracy"} <= {*logged[0][1]}


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"bough\[mlflow\]"):
        MLflowLogger()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ImportError, match=r"bough\[tensorboard\]"):
        TensorBoardLogger(tmp_path)
