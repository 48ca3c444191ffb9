"""The paper's sentences that are experiments: each as a difference, its standard error, and whether it holds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from paper.document import MISSING, Cell, Table, Tone
from paper.results import System

Answer = Literal["holds", "does not hold", "undecided within the noise"]
CONFIDENCE = 0.95
LONG = ("13.5", "14.5")  # the windows within lengths 13 to 15
TONES: dict[Answer, Tone] = {"holds": "better", "does not hold": "worse", "undecided within the noise": ""}


@dataclass(frozen=True)
class Term:
    """A figure of one system, counted `weight` times; `lengths` takes it from those windows, `minus_rest` less
    what the other windows come to. A term without a system is a constant."""

    weight: float
    system: str
    figure: str = "pearson"
    lengths: tuple[str, ...] = ()
    minus_rest: bool = False
    constant: float = 0.0

    def values(self, systems: Mapping[str, System]) -> list[float] | None:
        """One a seed; None if there are none."""
        if not self.system:
            return [self.constant]
        system = systems.get(self.system)
        if system is None or not self.lengths:
            return system.figures.get(self.figure) if system else None
        if not set(self.lengths) < set(system.by_length):
            return None
        there = [values for length, values in system.by_length.items() if length in self.lengths]
        elsewhere = [values for length, values in system.by_length.items() if length not in self.lengths]
        inside = [statistics.fmean(seed) for seed in zip(*there, strict=True)]
        outside = [statistics.fmean(seed) for seed in zip(*elsewhere, strict=True)]
        return [a - b for a, b in zip(inside, outside, strict=True)] if self.minus_rest else inside


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the sum of terms that is above zero if it is true.

    With a `margin` the sentence is "it does not help": the sum is the gain, and to be below the margin.
    """

    sentence: str
    where: str
    figure: str
    terms: tuple[Term, ...]
    margin: float | None = None
    scale: float = 1.0


@dataclass(frozen=True)
class Finding:
    """The difference, its standard error, the half-width of its confidence interval, and the answer."""

    difference: float
    error: float | None
    half: float | None
    answer: Answer


def contrast(
    samples: Sequence[tuple[float, Sequence[float]]], constant: float = 0.0, margin: float | None = None
) -> Finding:
    """Weigh means of samples against zero (or, for "does not help", the margin) with Welch's approximation."""
    from scipy import stats

    difference = constant + sum(weight * statistics.fmean(values) for weight, values in samples)
    if any(len(values) < 2 for _, values in samples):  # one seed says nothing of the noise
        return Finding(difference, None, None, "undecided within the noise")
    parts = [
        (weight**2 * statistics.variance(values) / len(values), len(values) - 1) for weight, values in samples
    ]
    variance = sum(part for part, _ in parts)
    half = 0.0
    if variance > 0:
        freedom = variance**2 / sum(part**2 / count for part, count in parts)
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * variance**0.5
    answer: Answer = "undecided within the noise"
    if difference - half > 0:
        answer = "holds" if margin is None else "does not hold"
    elif difference + half < (margin or 0.0):
        answer = "does not hold" if margin is None else "holds"
    return Finding(difference, variance**0.5, half, answer)


def find(claim: Claim, systems: Mapping[str, System]) -> Finding | None:
    """What our runs say; None while one of them is missing."""
    samples = []
    for term in claim.terms:
        values = term.values(systems)
        if not values:
            return None
        if term.system:
            samples.append((term.weight, values))
    constant = sum(term.weight * term.constant for term in claim.terms)
    return contrast(samples, constant, claim.margin)


def _over(
    better: str, worse: str, figure: str = "pearson", lengths: tuple[str, ...] = ()
) -> tuple[Term, ...]:
    return Term(1, better, figure, lengths), Term(-1, worse, figure, lengths)


def _sick(sentence: str, where: str, better: str, worse: str) -> Claim:
    return Claim(sentence, where, "SICK r", _over(better, worse))


def _no_gain(sentence: str, setting: str) -> Claim:
    terms = _over(f"{DEPENDENCY}+{setting}", DEPENDENCY)
    return Claim(sentence, "Sec. 5.3", "SICK r, gain", terms, margin=ONE_SD)


def _sst(sentence: str, figure: str, *terms: Term) -> Claim:
    return Claim(sentence, "Sec. 6.1", f"{figure}, points", terms, scale=100)


DEPENDENCY, BILSTM = "sick-dependency", "sick-bilstm"
ONE_SD = 0.0030  # of the paper's Dependency Tree-LSTM: a gain below it would drown in the noise of its runs
FINE_GAIN = _over("sst5-constituency-tuned", "sst5-constituency-fixed", "accuracy")
CLAIMS = (
    _sick(
        "Tied bidirectional weights beat untied ones of the same parameter count.",
        "Sec. 5, footnote", BILSTM, f"{BILSTM}+tied=false+hidden_size=87",
    ),
    _sick(
        "The KL objective beats mean squared error.",
        "Sec. 4.2, footnote", DEPENDENCY, f"{DEPENDENCY}+objective=mse",
    ),
    _sick(
        "Product and difference together beat the product alone.",
        "Sec. 4.2", DEPENDENCY, f"{DEPENDENCY}+features=product",
    ),
    _sick(
        "Product and difference together beat the difference alone.",
        "Sec. 4.2", DEPENDENCY, f"{DEPENDENCY}+features=difference",
    ),
    _no_gain("Tuning the word vectors brings no significant gain in relatedness.", "embeddings=tuned"),
    _no_gain("Dropout brings no gain in relatedness.", "dropout=0.5"),
    _sst("Tuning the word vectors helps fine-grained sentiment.", "SST fine-grained", *FINE_GAIN),
    _sst(
        "Tuning helps fine-grained sentiment more than binary.", "SST, gain against gain",
        *FINE_GAIN, *_over("sst2-constituency-fixed", "sst2-constituency-tuned", "binary"),
    ),
    _sst(
        "The Constituency Tree-LSTM beats the Dependency Tree-LSTM on fine-grained sentiment.",
        "SST fine-grained", *_over("sst5-constituency-tuned", "sst5-dependency", "accuracy"),
    ),
    _sst(
        "The Constituency Tree-LSTM beats the Dependency Tree-LSTM on binary sentiment.",
        "SST binary", *_over("sst2-constituency-tuned", "sst2-dependency", "binary"),
    ),
    _sick(
        "The Dependency Tree-LSTM beats the Constituency Tree-LSTM in relatedness.",
        "Sec. 6.2", DEPENDENCY, "sick-constituency",
    ),
    _sick(
        "The Dependency Tree-LSTM beats the Bidirectional LSTM in relatedness.",
        "Sec. 6.2", DEPENDENCY, BILSTM,
    ),
    Claim(
        "Even the 2-layer LSTM, the lowest of the LSTMs, beats the best system of SemEval 2014 (ECNU, 0.8414).",
        "Sec. 6.2", "SICK r", (Term(1, "sick-lstm-2layer"), Term(-1, "", constant=0.8414)),
    ),
    Claim(
        "At lengths 13 to 15 the Dependency Tree-LSTM beats the Bidirectional LSTM.",
        "Sec. 7.2", "SICK r there", _over(DEPENDENCY, BILSTM, lengths=LONG),
    ),
    Claim(
        "Its gain over the Bidirectional LSTM is larger at lengths 13 to 15 than elsewhere.",
        "Sec. 7.2", "SICK r, gain against gain",
        (Term(1, DEPENDENCY, lengths=LONG, minus_rest=True), Term(-1, BILSTM, lengths=LONG, minus_rest=True)),
    ),
)  # fmt: skip


def claims_table(systems: Mapping[str, System]) -> Table:
    """All of them: the means behind each, the difference with its standard error, and the answer."""
    rows = []
    for claim in CLAIMS:
        finding = find(claim, systems)
        said = Cell(f"{claim.sentence} ({claim.where})")
        if finding is None:
            rows.append((said, Cell(claim.figure), MISSING, MISSING, MISSING))
            continue
        digits = 1 if claim.scale == 100 else 4
        numbers = []
        for term in claim.terms:
            values = term.values(systems) or []
            count = f" ({len(values)})" if term.system else ""
            numbers.append(f"{claim.scale * statistics.fmean(values):.{digits}f}{count}")
        shown = (" against " if len(numbers) == 2 else ", ").join(numbers)
        error = "one seed" if finding.error is None else f"{claim.scale * finding.error:.{digits + 1}f}"
        rows.append(
            (
                said,
                Cell(f"{claim.figure}: {shown}"),
                Cell(f"{claim.scale * finding.difference:+.{digits}f}"),
                Cell(error),
                Cell(finding.answer, tone=TONES[finding.answer]),
            )
        )
    notes = (
        "Numbers: means over the seeds (how many), in the order of the sentence. A claim holds, or does not, if the "
        f"{CONFIDENCE:.0%} confidence interval of the difference (Welch) lies on one side of zero; else the "
        "noise of the runs leaves it undecided. For `no gain` it holds if the interval ends below "
        f"{ONE_SD:.4f}, one standard deviation of the paper's row, and does not if it starts above zero.",
    )
    header = ("claim", "numbers", "difference", "standard error", "answer")
    return Table("The paper's claims", header, tuple(rows), notes)
