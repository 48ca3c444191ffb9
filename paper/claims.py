"""Test the paper's claims (`claims.toml`): the difference, its standard error, the answer."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from paper.document import MISSING, Cell, Table
from paper.published import CLAIMS
from paper.results import System

Answer = Literal["holds", "does not hold", "undecided within the noise"]
Term = dict[str, Any]
CONFIDENCE = 0.95
# the abstract: "Tree-LSTMs outperform [...] strong LSTM baselines on two tasks"; each tree is compared with each LSTM
LSTMS = {
    "LSTM": "lstm",
    "Bidirectional LSTM": "bilstm",
    "2-layer LSTM": "lstm-2layer",
    "2-layer Bidirectional LSTM": "bilstm-2layer",
}
TREES = (
    ("SST fine-grained, points", "sst5", "accuracy", "Constituency", "constituency-tuned"),
    ("SST fine-grained, points", "sst5", "accuracy", "Dependency", "dependency"),
    ("SST binary, points", "sst2", "binary", "Constituency", "constituency-tuned"),
    ("SST binary, points", "sst2", "binary", "Dependency", "dependency"),
    ("SICK r", "sick", "pearson", "Constituency", "constituency"),
    ("SICK r", "sick", "pearson", "Dependency", "dependency"),
)


@dataclass(frozen=True)
class Finding:
    """A difference, its standard error, half of its confidence interval, and the answer."""

    difference: float
    error: float | None
    half: float | None
    answer: Answer


def contrast(
    samples: Sequence[tuple[float, Sequence[float]]], constant: float = 0.0, margin: float | None = None
) -> Finding:
    """Return the confidence interval of a weighted sum of sample means by Welch's approximation, and the answer.

    A claim holds if the interval is above zero. With a margin the claim is that there is no gain,
    and it holds if the interval is below the margin.
    """
    from scipy import stats

    difference = constant + sum(weight * statistics.fmean(values) for weight, values in samples)
    if any(len(values) < 2 for _, values in samples):  # one seed gives no variance
        return Finding(difference, None, None, "undecided within the noise")
    parts = []  # variances, and their degrees of freedom
    for weight, values in samples:
        parts.append((weight**2 * statistics.variance(values) / len(values), len(values) - 1))
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


def term_values(term: Term, systems: Mapping[str, System]) -> list[float] | None:
    """Return the values of a term, one per seed; None if there are none."""
    if "system" not in term:
        return [term["constant"]]
    system, lengths = systems.get(term["system"]), term.get("lengths", [])
    if system is None or not lengths:
        return system.figures.get(term["metric"]) if system else None
    if not set(lengths) < set(system.by_length):
        return None
    there = [values for length, values in system.by_length.items() if length in lengths]
    elsewhere = [values for length, values in system.by_length.items() if length not in lengths]
    inside = [statistics.fmean(seed) for seed in zip(*there, strict=True)]
    outside = [statistics.fmean(seed) for seed in zip(*elsewhere, strict=True)]
    return [a - b for a, b in zip(inside, outside, strict=True)] if term.get("minus_rest") else inside


def find(claim: dict[str, Any], systems: Mapping[str, System]) -> Finding | None:
    """Return the finding of our runs on a claim, or None if one of them is missing."""
    values = [(term, term_values(term, systems)) for term in claim["terms"]]
    samples = [(term["weight"], found) for term, found in values if found and "system" in term]
    if not all(found for _, found in values):
        return None
    constant = sum(term["weight"] * term.get("constant", 0.0) for term, _ in values)
    return contrast(samples, constant, claim.get("margin"))


def gain(better: System | None, worse: System | None, figure: str) -> Finding | None:
    """Return the finding that one system is better than another, or None if one of them is missing."""
    if better is None or worse is None:
        return None
    return contrast([(1.0, better.figures[figure]), (-1.0, worse.figures[figure])])


def main_claim_table(systems: Mapping[str, System]) -> Table:
    """Return the table of the main claim: each Tree-LSTM less each LSTM, with confidence intervals."""
    rows = []
    for title, task, figure, name, tree in TREES:
        cells = [Cell(f"{title}: {name} Tree-LSTM")]
        scale, digits = (1, 4) if figure == "pearson" else (100, 2)
        for lstm in LSTMS.values():
            finding = gain(systems.get(f"{task}-{tree}"), systems.get(f"{task}-{lstm}"), figure)
            if finding is None:
                cells.append(MISSING)
                continue
            text, answer = f"{scale * finding.difference:+.{digits}f}", "one seed"
            if finding.half is not None:
                low, high = (scale * (finding.difference + side * finding.half) for side in (-1, 1))
                text += f" [{low:+.{digits}f}, {high:+.{digits}f}]"
                answer = finding.answer.removesuffix(" within the noise")
            cells.append(Cell(text, answer))
        rows.append(tuple(cells))
    note = (
        "The abstract says that Tree-LSTMs outperform strong LSTM baselines on both tasks. A cell is the mean of the "
        f"Tree-LSTM less that of the LSTM, with the {CONFIDENCE:.0%} confidence interval (Welch); the claim holds, or "
        "does not, if the interval lies on one side of zero."
    )
    return Table("The main claim: Tree-LSTM less LSTM", ("figure and tree", *LSTMS), tuple(rows), (note,))


def claims_table(systems: Mapping[str, System]) -> Table:
    """Return the table of claims: means, difference, standard error and answer."""
    rows: list[tuple[Cell, ...]] = []
    for claim in CLAIMS:
        finding, scale = find(claim, systems), claim.get("scale", 1)
        sentence = Cell(f"{claim['sentence']} ({claim['where']})")
        if finding is None:
            rows.append((sentence, Cell(claim["figure"]), MISSING, MISSING, MISSING))
            continue
        digits = 1 if scale == 100 else 4
        numbers = []
        for term in claim["terms"]:
            values = term_values(term, systems) or []
            count = f" ({len(values)})" if "system" in term else ""
            numbers.append(f"{scale * statistics.fmean(values):.{digits}f}{count}")
        means = (" against " if len(numbers) == 2 else ", ").join(numbers)
        error = "one seed" if finding.error is None else f"{scale * finding.error:.{digits + 1}f}"
        figures = (f"{claim['figure']}: {means}", f"{scale * finding.difference:+.{digits}f}", error)
        rows.append((sentence, *map(Cell, (*figures, finding.answer))))
    margins = {f"{claim['margin']:.4f}" for claim in CLAIMS if "margin" in claim}
    notes = (
        "Numbers: means over the seeds (how many), in the order of the sentence. A claim holds, or does not, if the "
        f"{CONFIDENCE:.0%} confidence interval of the difference (Welch) lies on one side of zero; else the "
        "noise of the runs leaves it undecided. For `no gain` it holds if the interval ends below "
        f"{' or '.join(margins)}, one standard deviation of the paper's row, and does not if it starts above zero.",
    )
    header = ("claim", "numbers", "difference", "standard error", "answer")
    return Table("The paper's claims", header, tuple(rows), notes)
