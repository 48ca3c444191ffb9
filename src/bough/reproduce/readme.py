"""The tables of docs/results.md and the line of the README, made from `results.json` so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.reproduce import beyond, paper
from bough.reproduce.document import MISSING, NOTHING, Cell, Table, grid
from bough.reproduce.results import System, from_summary, vectors_of
from bough.reproduce.tables import own_rows, spread
from bough.storage import write_text

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
BEYOND_BEGIN, BEYOND_END = "<!-- beyond:begin -->", "<!-- beyond:end -->"
LINE_BEGIN, LINE_END = "<!-- headline:begin -->", "<!-- headline:end -->"


def results_line(results: Mapping[str, Any]) -> str:
    """The one figure that stands for all, markers included: the Dependency Tree-LSTM on SICK."""
    system = from_summary(results).get("sick-dependency")
    [published] = [row for _, name, row in paper.TABLE3 if name == "dependency"]
    theirs = f"the paper has {published[0].mean:.4f}"
    if system is None:
        return f"{LINE_BEGIN}not run yet ({theirs}){LINE_END}"
    return f"{LINE_BEGIN}{spread(system, 'pearson', 4)} with {system.vectors} ({theirs}){LINE_END}"


def readme_block(results: Mapping[str, Any]) -> str:
    """Tables 2 and 3 in short, markers included, from the contents of a `results.json`."""
    systems = from_summary(results)
    return "\n\n".join(
        [
            BEGIN,
            "Test figures: ours as mean (standard deviation, number of seeds), the paper's beside them.",
            grid(_relatedness(systems)),
            _vectors(systems, "sick", "SICK relatedness"),
            grid(_sentiment(systems)),
            _vectors(systems, "sst", "SST accuracy in percent, binary trained as such"),
            END,
        ]
    )


def beyond_block(results: Mapping[str, Any]) -> str:
    """The systems with contextual leaves and what the tree adds to them, markers included."""
    tables = beyond.tables(from_summary(results))
    blocks = [block for table in tables for block in (f"{table.title}:", grid(table), *table.notes)]
    return "\n\n".join([BEYOND_BEGIN, *blocks, BEYOND_END])


def update_readme(path: Path, results: Mapping[str, Any]) -> None:
    """Put the tables, the line, or both, between the markers of a file; it has at least one pair of them."""
    text = path.read_text(encoding="utf-8")
    if BEYOND_BEGIN in text:
        text = replaced(text, beyond_block(results), str(path), (BEYOND_BEGIN, BEYOND_END))
    if LINE_BEGIN in text:
        text = replaced(text, results_line(results), str(path), (LINE_BEGIN, LINE_END))
    if BEGIN in text or LINE_BEGIN not in text:
        text = replaced(text, readme_block(results), str(path))
    write_text(path, text)


def replaced(text: str, block: str, where: str, markers: tuple[str, str] = (BEGIN, END)) -> str:
    """The text with its block exchanged."""
    first, last = markers
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise ValueError(f"{where}: no place for the results; add the lines {first} and {last}")
    return before + block + after


def block_of(text: str, where: str, markers: tuple[str, str] = (BEGIN, END)) -> str:
    """The block as it stands in a file, markers included."""
    replaced(text, "", where, markers)
    first, last = markers
    return first + text.partition(first)[2].partition(last)[0] + last


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
