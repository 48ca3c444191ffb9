"""The tables of docs/results.md and the line of the README, made from `results.json` so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.files import write_text
from paper import beyond
from paper import published as paper
from paper.document import NOTHING, Cell, Table, grid
from paper.results import from_summary, vectors_of
from paper.tables import FIVE_SEEDS, Systems, cell, own_rows, spread


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


def _headline(systems: Systems) -> str:
    """The one figure that stands for all: the Dependency Tree-LSTM on SICK."""
    system = systems.get("sick-dependency")
    [published] = [row for _, name, row in paper.TABLE3 if name == "dependency"]
    theirs = f"the paper has {published[0].mean:.4f}"
    if system is None:
        return f"not run yet ({theirs})"
    return f"{spread(system, 'pearson')} with {system.vectors} ({theirs})"


def _leaves(systems: Systems) -> str:
    """Return the accuracy on SST of a tree over a transformer."""
    fine, binary = (beyond.best(systems, task) for task in ("sst5", "sst2"))
    if fine is None or binary is None:
        return "not run yet"
    five, two = spread(fine, "accuracy"), spread(binary, "binary")
    return f"{five} percent in five classes and {two} in two with {fine.vectors}"


def _tables(systems: Systems) -> str:
    """Tables 2 and 3 in short."""
    return _apart(
        f"Test figures: ours as mean (standard deviation, number of seeds), the paper's beside them. {FIVE_SEEDS}",
        grid(_relatedness(systems)),
        _vectors(systems, "sick", "SICK relatedness"),
        grid(_sentiment(systems)),
        _vectors(systems, "sst", "SST accuracy in percent, binary trained as such"),
    )


def _beyond(systems: Systems) -> str:
    """Return the tables of the systems over a transformer, and what the tree adds to them."""
    tables = beyond.tables(systems)
    return _apart(*(block for table in tables for block in (f"{table.title}:", grid(table), *table.notes)))


def _apart(*blocks: str) -> str:
    return "\n\n" + "\n\n".join(blocks) + "\n\n"


MADE = {"headline": _headline, "leaves": _leaves, "results": _tables, "beyond": _beyond}


def _relatedness(systems: Systems) -> Table:
    rows = []
    for title, name, (r, _, mse) in paper.TABLE3:
        ours = [cell(systems.get(f"sick-{name}"), figure) for figure in ("pearson", "mse")]
        rows.append((Cell(title), ours[0], Cell(f"{r.mean:.4f}"), ours[1], Cell(f"{mse.mean:.4f}")))
    return Table("", ("SICK", "Pearson's r", "paper", "MSE", "paper"), tuple(rows))


def _sentiment(systems: Systems) -> Table:
    rows = []
    published = [
        (Cell(title), name, [Cell(f"{one.mean:.1f}") for one in row]) for title, name, row in paper.TABLE2
    ]
    own = [(Cell(title, tone="own"), name, [NOTHING, NOTHING]) for title, name in own_rows()]
    for title, name, (fine, binary) in published + own:
        five, two = cell(systems.get(f"sst5-{name}"), "accuracy"), cell(systems.get(f"sst2-{name}"), "binary")
        rows.append((title, five, fine, two, binary))
    return Table("", ("SST", "fine-grained", "paper", "binary", "paper"), tuple(rows))


def _vectors(systems: Systems, task: str, what: str) -> str:
    used = [f"{name} ({known})" if known else name for name, known in vectors_of(systems, task).items()]
    if not used:
        return f"{what}: nothing has been run yet. The paper: {paper.VECTORS}."
    return f"{what}, with {', '.join(used)}. The paper: {paper.VECTORS}."
