"""Tables of figures for a model's card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def table(title: str, rows: Mapping[str, Mapping[str, float]], form: str) -> str:
    """Markdown: a row per system, a column per figure in the form given, as `.3f`."""
    heads = list(next(iter(rows.values())))
    lines = [f"| {title} | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    lines += [
        f"| {name} | {' | '.join(f'{row[head]:{form}}' for head in heads)} |" for name, row in rows.items()
    ]
    return "\n".join(lines)


def replace_section(card: Path, heading: str, text: str) -> None:
    """The last section of a card anew, or for the first time."""
    before = card.read_text(encoding="utf-8").split(heading)[0].rstrip()
    card.write_text(f"{before}\n\n{heading}\n\n{text}\n", encoding="utf-8")
