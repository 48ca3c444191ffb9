"""The tables of docs/results.md and the line of the README, made from `results.json` so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.files import write_text
from paper import beyond
from paper import published as paper
from paper.document import MISSING, NOTHING, Cell, Table, grid
from paper.results import System, from_summary, vectors_of
from paper.tables import FIVE_SEEDS, own_rows, spread


def update_readme(path: Path, results: Mapping[str, Any]) -> None:
    """Put what is made from a `results.json` between the markers of a file; it has at least one pair of them."""
    text = path.read_text(encoding="utf-8")
    there = [name for name in MADE if markers(name)[0] in text]
    for name in there or ["results"]:
        before, after = _around(text, name, str(path))
        text = before + made(name, results) + after
    write_text(path, text)


def made(name: str, results: Mapping[str, Any]) -> str:
    """What belongs between the markers of that name."""
    return MADE[name](from_summary(results))


def made_before(text: str, name: str, where: str) -> str:
    """What stands there in the text of a file."""
    before, after = _around(text, name, where)
    return text[len(before) : len(text) - len(after)]


def markers(name: str) -> tuple[str, str]:
    """Where a block begins and where it ends."""
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def _around(text: str, name: str, where: str) -> tuple[str, str]:
    """The text before a block and after it, markers included."""
    first, last = markers(name)
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise ValueError(f"{where}: no place for the results; add the lines {first} and {last}")
    return before + begin, end + after


def _headline(systems: Mapping[str, System]) -> str:
    """The one figure that stands for all: the Dependency Tree-LSTM on SICK."""
    system = systems.get("sick-dependency")
    [published] = [row for _, name, row in paper.TABLE3 if name == "dependency"]
    theirs = f"the paper has {published[0].mean:.4f}"
    if system is None:
        return f"not run yet ({theirs})"
    return f"{spread(system, 'pearson', 4)} with {system.vectors} ({theirs})"


def _leaves(systems: Mapping[str, System]) -> str:
    """What a tree over contextual leaves reaches on SST."""
    fine, binary = (beyond.best(systems, task) for task in ("sst5", "sst2"))
    if fine is None or binary is None:
        return "not run yet"
    five, two = spread(fine, "accuracy", 1, 100), spread(binary, "binary", 1, 100)
    return f"{five} percent in five classes and {two} in two with {fine.vectors}"


def _tables(systems: Mapping[str, System]) -> str:
    """Tables 2 and 3 in short."""
    return _apart(
        f"Test figures: ours as mean (standard deviation, number of seeds), the paper's beside them. {FIVE_SEEDS}",
        grid(_relatedness(systems)),
        _vectors(systems, "sick", "SICK relatedness"),
        grid(_sentiment(systems)),
        _vectors(systems, "sst", "SST accuracy in percent, binary trained as such"),
    )


def _beyond(systems: Mapping[str, System]) -> str:
    """The systems with contextual leaves, and what the tree adds to them."""
    tables = beyond.tables(systems)
    return _apart(*(block for table in tables for block in (f"{table.title}:", grid(table), *table.notes)))


def _apart(*blocks: str) -> str:
    return "\n\n" + "\n\n".join(blocks) + "\n\n"


MADE = {"headline": _headline, "leaves": _leaves, "results": _tables, "beyond": _beyond}


def _relatedness(systems: Mapping[str, System]) -> Table:
    rows = []
    for title, name, published in paper.TABLE3:
        system = systems.get(f"sick-{name}")
        cells = []
        for figure, theirs in zip(("pearson", "mse"), (published[0], published[2]), strict=True):
            cells += [_ours(system, figure, 4), Cell(f"{theirs.mean:.4f}")]
        rows.append((Cell(title), *cells))
    return Table("", ("SICK", "Pearson's r", "paper", "MSE", "paper"), tuple(rows))


def _sentiment(systems: Mapping[str, System]) -> Table:
    rows = []
    for title, name, published in paper.TABLE2:
        cells = []
        for task, figure, theirs in zip(("sst5", "sst2"), ("accuracy", "binary"), published, strict=True):
            cells += [_ours(systems.get(f"{task}-{name}"), figure, 1, 100), Cell(f"{theirs.mean:.1f}")]
        rows.append((Cell(title), *cells))
    for title, name, ending in own_rows():
        fine = _ours(systems.get(f"sst5-{name}{ending}"), "accuracy", 1, 100)
        binary = _ours(systems.get(f"sst2-{name}{ending}"), "binary", 1, 100)
        rows.append((Cell(title, tone="own"), fine, NOTHING, binary, NOTHING))
    return Table("", ("SST", "fine-grained", "paper", "binary", "paper"), tuple(rows))


def _ours(system: System | None, figure: str, digits: int, scale: float = 1.0) -> Cell:
    return MISSING if system is None else Cell(spread(system, figure, digits, scale))


def _vectors(systems: Mapping[str, System], task: str, what: str) -> str:
    used = [f"{name} ({known})" if known else name for name, known in vectors_of(systems, task).items()]
    if not used:
        return f"{what}: nothing has been run yet. The paper: {paper.VECTORS}."
    return f"{what}, with {', '.join(used)}. The paper: {paper.VECTORS}."
