"""One or several numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.data.examples import Example, Source
from bough.errors import FormatError
from bough.nn import heads
from bough.outputs.base import (
    Array,
    Floats,
    HeadConfig,
    Ints,
    Output,
    Scale,
    TargetOptions,
    as_tuples,
    constant_label,
    pair_head,
    read_number,
)
from bough.outputs.report import Report

PERCENTILES = {"q_error_median": 50, "q_error_p90": 90, "q_error_p99": 99}


@dataclass(frozen=True)
class Numbers(Output):
    """One or several numbers of each text, pair or tree; in trees with labels, of labelled nodes.

    The head predicts (f(y) - mean) / spread, where f(y) is y or, with the scale "log", log y.

    Args:
        numbers: the names of the numbers.
        means: the mean of each number, or of its logarithm.
        spreads: the standard deviation of each number, or of its logarithm.
        scale: "linear" or "log".
        pairs: whether the numbers are those of pairs.

    Examples:
        >>> import numpy as np
        >>> from bough.outputs import Numbers
        >>> Numbers(("hours",), (3.0,), (2.0,)).standardised(np.array([[5.0], [3.0]]))
        array([[1.],
               [0.]])
    """

    kind: ClassVar[str] = "numbers"
    metric: ClassVar[str] = "spearman"
    result: ClassVar[str] = "numbers"
    titles: ClassVar[Mapping[str, str]] = {
        "mae": "mean absolute error",
        "rmse": "root mean squared error",
        "r2": "R^2",
        "spearman": "Spearman's rho",
        "q_error_median": "q-error, median",
        "q_error_p90": "q-error, 90th percentile",
        "q_error_p99": "q-error, 99th percentile",
        "loss": "loss",
    }
    errors: ClassVar[frozenset[str]] = frozenset({"mae", "rmse", "loss", *PERCENTILES})
    probabilistic: ClassVar[bool] = False

    numbers: tuple[str, ...]
    means: tuple[float, ...]
    spreads: tuple[float, ...]
    scale: Scale = "linear"
    pairs: bool = False

    def __post_init__(self) -> None:
        as_tuples(self, "numbers", "means", "spreads")
        if not self.numbers or not all(isinstance(name, str) for name in self.numbers):
            raise ValueError(f"numbers {self.numbers}: the name of at least one, each a string")
        if not len(self.numbers) == len(self.means) == len(self.spreads):
            raise ValueError(f"numbers {self.numbers}: a mean and a spread for each")
        if not np.isfinite([*self.means, *self.spreads]).all() or min(self.spreads) <= 0:
            raise ValueError(f"means {self.means}, spreads {self.spreads}: finite, and a spread above 0")
        if self.scale not in ("linear", "log"):
            raise ValueError(f"scale {self.scale!r}: 'linear' or 'log'")

    @classmethod
    def from_labels(cls, source: Source, options: TargetOptions) -> tuple[Self, list[str]]:
        scale, where = options.scale or "linear", source.name
        rows = [_row(example.value, scale, example.where) for example in source.examples]
        count = len(rows[0])
        for example, row in zip(source.examples, rows, strict=True):
            _check_count(row, count, example.where)
        values = np.array(rows, dtype=np.float64)
        if (values.min(axis=0) == values.max(axis=0)).any():
            raise constant_label(where, f"label is {values[0, 0]:g}")
        name = source.columns.label or "value"
        names = [name] if count == 1 else [f"{name} {column}" for column in range(count)]
        scaled = np.log(values) if scale == "log" else values
        low, high = values.min(), values.max()
        messages = [f"numbers from {low:g} to {high:g}, scale {scale}"]
        if scale == "linear" and low > 0 and high > 1000 * low:
            messages.append(
                "the largest is over 1,000 times the smallest; the scale log predicts their logarithms"
            )
        means, spreads = tuple(scaled.mean(axis=0).tolist()), tuple(scaled.std(axis=0).tolist())
        return cls(tuple(names), means, spreads, scale, source.pairs), messages

    def encode(self, examples: Sequence[Example]) -> Array:
        rows = [_row(example.value, self.scale, example.where) for example in examples]
        for example, row in zip(examples, rows, strict=True):
            _check_count(row, len(self.numbers), example.where)
        return np.array(rows, dtype=np.float64)

    def encode_node(self, label: Any) -> tuple[float, ...]:
        row = _row(label, self.scale, "a node")
        _check_count(row, len(self.numbers), "a node")
        return row

    def strata(self, examples: Sequence[Example], targets: Array) -> Ints:
        # tenths of the examples, sorted by the first number
        ranks = np.argsort(np.argsort(targets[:, 0], kind="stable"), kind="stable")
        strata: Ints = ranks * 10 // len(ranks)
        return strata

    def standardised(self, values: Floats) -> Floats:
        """Return (..., T) standardised numbers, as the head predicts them."""
        values = np.log(values) if self.scale == "log" else values
        scaled: Floats = (values - np.array(self.means)) / np.array(self.spreads)
        return scaled

    def restored(self, values: Floats) -> Floats:
        """Return (..., T) numbers from standardised ones."""
        values = values * np.array(self.spreads) + np.array(self.means)
        return np.exp(values.clip(-700, 700)) if self.scale == "log" else values

    def head(self, width: int, config: HeadConfig) -> nn.Module:
        if self.pairs:
            return pair_head(width, len(self.numbers), config)
        return heads.Regressor(width, len(self.numbers), dropout=config.dropout)

    def targets(self, encoded: Sequence[Any] | Array) -> Array:
        values = np.array(encoded, dtype=np.float64).reshape(len(encoded), len(self.numbers))
        return self.standardised(values).astype(np.float32)

    def loss(
        self,
        head: nn.Module,
        vectors: Sequence[Tensor],
        targets: Tensor,
        rows: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        """Return Huber's loss of the standardised numbers: the sum over nodes, or the mean over pairs."""
        factors = None if weights is None else weights[:, None].expand(-1, targets.shape[1])
        if isinstance(head, heads.Regressor):
            return head.loss(vectors[0], targets, rows, factors)
        losses = functional.huber_loss(head(*vectors), targets, reduction="none")
        return (losses if factors is None else losses * factors).sum() / len(targets)

    def predict(self, head: nn.Module, *vectors: Tensor) -> Array:
        return self.restored(cast(Array, head(*vectors).double().cpu().numpy()))

    def metrics(self, predicted: Array, targets: Array) -> Report:
        """Return MAE, RMSE, R^2 and Spearman's rho of numbers (n, T), as means over the T numbers.

        On the scale "log", also return percentiles of the q-error, max(y / y', y' / y).
        """
        from scipy import stats

        errors = predicted - targets
        spread = ((targets - targets.mean(axis=0)) ** 2).sum(axis=0)
        r2 = 1 - (errors**2).sum(axis=0) / np.maximum(spread, 1e-300)
        related = [
            float(stats.spearmanr(left, right).statistic)
            for left, right in zip(predicted.T, targets.T, strict=True)
            if np.ptp(left) > 0 and np.ptp(right) > 0
        ]
        figures = {
            "mae": float(np.abs(errors).mean()),
            "rmse": float(np.sqrt((errors**2).mean(axis=0)).mean()),
            "r2": float(r2.mean()) if spread.all() else 0.0,
            "spearman": float(np.mean(related)) if related else 0.0,
        }
        if self.scale == "log":
            low, high = np.minimum(predicted, targets), np.maximum(predicted, targets)
            q = high / np.maximum(low, 1e-300)
            figures |= {name: float(np.percentile(q, percent)) for name, percent in PERCENTILES.items()}
        return Report(figures, [], len(targets), titles=self.titles)

    def epoch_metrics(self, predicted: Array, targets: Array) -> dict[str, float]:
        y = self.targets(targets).astype(np.float64)  # in the precision in which they are learned
        errors = torch.from_numpy(self.standardised(predicted) - y)
        loss = float(functional.huber_loss(errors, torch.zeros_like(errors)))
        return {**self.metrics(predicted, self.restored(y)).figures, "loss": loss}

    def decide(self, predicted: Array) -> list[Any]:
        rows = predicted.tolist()
        return [row[0] if len(row) == 1 else row for row in rows]

    @property
    def keys(self) -> tuple[str, ...]:
        return ("numbers",)

    @property
    def cells(self) -> list[str]:
        return []

    @property
    def names(self) -> tuple[str, ...]:
        return self.numbers

    @property
    def headline(self) -> str:
        return "q_error_median" if self.scale == "log" else "r2"

    def fields(self, predicted: Array, digits: int | None = None) -> list[dict[str, Any]]:
        return [{"numbers": dict(zip(self.numbers, row, strict=True))} for row in predicted.tolist()]

    def text(self, fields: Mapping[str, Any]) -> str:
        shown = {name: f"{value:.4g}" for name, value in fields["numbers"].items()}
        return ", ".join(f"{name} {value}" if len(shown) > 1 else value for name, value in shown.items())

    def describe(self) -> str:
        return f"numbers: {', '.join(map(repr, self.numbers))}, scale {self.scale}"

    def baseline(self, targets: Array, *, structured: bool) -> tuple[str, Any]:
        from sklearn.ensemble import HistGradientBoostingRegressor
        from sklearn.linear_model import Ridge
        from sklearn.multioutput import MultiOutputRegressor

        if structured:
            return "boosted trees", MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0))
        return "ridge regression", Ridge()

    def baseline_targets(self, targets: Array) -> Array:
        return self.standardised(targets)

    def baseline_predictions(self, estimator: Any, items: Any) -> Array:
        standardised = np.asarray(estimator.predict(items), dtype=np.float64)
        return self.restored(standardised.reshape(-1, len(self.numbers)))


def _row(label: Any, scale: Scale, where: str) -> tuple[float, ...]:
    """Return the numbers of a label. Raise a FormatError if one cannot be read, or has no logarithm."""
    several = list(label) if isinstance(label, (list, tuple, np.ndarray)) else [label]
    numbers = tuple(read_number(number, where, "label") for number in several)
    if scale == "log" and min(numbers) <= 0:
        raise FormatError(f"{where}: the label {min(numbers):g}; the scale log needs numbers above 0")
    return numbers


def _check_count(row: Sequence[float], count: int, where: str) -> None:
    if len(row) != count:
        raise FormatError(f"{where}: {len(row)} numbers; the first example has {count}")
