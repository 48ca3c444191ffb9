"""What a report is made of, whatever it is written as: sections of text, lists, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Tone = Literal["", "within", "better", "worse", "missing", "muted", "own"]


@dataclass(frozen=True)
class Cell:
    """A text, and what is to be said of it: `tone` is how it looks, `verdict` a word or two beside it."""

    text: str
    verdict: str = ""
    tone: Tone = ""


MISSING = Cell("missing", tone="missing")
NOTHING = Cell("-", tone="muted")


@dataclass(frozen=True)
class Table:
    """A title, column heads, rows of cells and notes below. A row of one cell is a heading across the table."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A drawing: the file it lies in (`NAME.svg`, `NAME.png`) and its caption."""

    name: str
    caption: str
    svg: str = field(repr=False)


@dataclass(frozen=True)
class Text:
    """One paragraph."""

    text: str


@dataclass(frozen=True)
class Points:
    """A list."""

    points: tuple[str, ...]


Block = Table | Figure | Text | Points


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The whole as Markdown."""
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [block_as_markdown(block) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def block_as_markdown(block: Block) -> str:
    """One piece as Markdown."""
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Points):
        return "\n".join(f"- {point}" for point in block.points)
    if isinstance(block, Figure):
        return f"![{block.caption}]({block.name}.svg)\n\n{block.caption}"
    return "\n\n".join([f"**{block.title}**", grid(block), *block.notes])


def grid(table: Table) -> str:
    """The rows alone, without title and notes."""
    width = len(table.header)
    lines = [_row(table.header), _row(["---"] * width)]
    for row in table.rows:
        if len(row) == 1 < width:
            lines.append(_row([f"*{_escaped(row[0].text)}*", *[""] * (width - 1)]))
        else:
            lines.append(_row([_cell(cell) for cell in row]))
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text)
    if cell.tone == "own":
        text = f"**{text}**"
    return f"{text}, {cell.verdict}" if cell.verdict else text


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
