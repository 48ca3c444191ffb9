"""A report of text, lists, tables and figures, and how to write it as Markdown and HTML."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from bough.train.report import STYLE as FIT_STYLE

# added to the style sheet of the report of a fit
STYLE = (
    "body{max-width:72rem}a{color:var(--blue)}td,th{text-align:left;vertical-align:top}"
    "table{display:block;overflow-x:auto}svg{background:#fff;max-width:100%;height:auto}"
)
# how a figure compares with the paper's, or whose row it is the title of
Tone = Literal["", "within", "better", "worse", "cited", "own"]


@dataclass(frozen=True)
class Cell:
    """A text, a word or two on it (`verdict`), and what kind of result it is (`tone`)."""

    text: str
    verdict: str = ""
    tone: Tone = ""


MISSING = Cell("missing")
NOTHING = Cell("-")


@dataclass(frozen=True)
class Table:
    """A title, column headings, rows of cells, and notes. A row of one cell is a heading."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, the name of its files (`NAME.svg`, `NAME.png`), and its caption."""

    name: str
    caption: str
    svg: str = field(repr=False)


Block = Table | Figure | str | tuple[str, ...]  # a string is a paragraph, a tuple a list of points
Sections = Mapping[str, Sequence[Block]]  # heading -> blocks below it


def as_markdown(title: str, sections: Sections) -> str:
    parts = [f"# {title}"]
    for heading, blocks in sections.items():
        parts += [f"## {heading}", *map(block_as_markdown, blocks)]
    return "\n\n".join(parts) + "\n"


def block_as_markdown(block: Block) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, tuple):
        return "\n".join(f"- {point}" for point in block)
    if isinstance(block, Figure):
        return f"![{block.caption}]({block.name}.svg)\n\n{block.caption}"
    return "\n\n".join([f"**{block.title}**", grid(block), *block.notes])


def grid(table: Table) -> str:
    """Return the rows of a table as Markdown, without title and notes."""
    width = len(table.header)
    rows = [list(table.header), ["---"] * width]
    for row in table.rows:
        cells = []
        for cell in row:
            text = cell.text.replace("|", "\\|")
            text = f"**{text}**" if cell.tone == "own" else text
            cells.append(f"{text}, {cell.verdict}" if cell.verdict else text)
        rows.append(cells if len(row) > 1 else [f"*{cells[0]}*", *[""] * (width - 1)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def as_html(title: str, markdown: str, figures: Iterable[Figure]) -> str:
    """Return a report in Markdown as one HTML page, with style sheet and drawings inside."""
    from markdown import markdown as render

    body: str = render(
        markdown.replace("\n## ", "\n[TOC]\n\n## ", 1),
        extensions=["tables", "toc"],
        extension_configs={"toc": {"toc_depth": "2-2"}},
    )
    for figure in figures:
        label = f'<svg role="img" aria-label="{escape(figure.caption)}"'
        svg = figure.svg[figure.svg.index("<svg") :].replace("<svg", label, 1).strip()
        body = re.sub(rf'<img [^>]*src="{figure.name}\.svg" ?/?>', lambda _, svg=svg: svg, body)  # type: ignore[misc]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{FIT_STYLE}{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
