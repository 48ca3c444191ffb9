"""A report of sections of text, lists, tables and figures, written as Markdown and as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1a; --soft: #6a6a63; --paper: #fcfcf9; --line: #dcdcd4;
  --card: #ffffff; --good: #00694f; --bad: #9c3b00; --own: #0b5a94; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e2; --soft: #a3a39a; --paper: #171716; --line: #3a3a36;
  --card: #1f1f1d; --good: #5fd0ab; --bad: #f0a06a; --own: #7fc0ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 5rem; max-width: 72rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); }
p, ul { max-width: 46rem; }
nav a { margin-right: 1rem; white-space: nowrap; }
a { color: var(--own); }
code { font-size: .9em; }
.scroll, .drawing { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--line); border-radius: 6px; }
.scroll { background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .7rem .75rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-top: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 400; min-width: 9rem; }
tr.group th { color: var(--soft); font-size: .8rem; font-weight: 600; padding-top: 1rem; }
.note { color: var(--soft); font-size: .88rem; margin: .3rem 0; }
.verdict { display: block; font-size: .78rem; color: var(--soft); }
.within .verdict, .better .verdict { color: var(--good); }
.worse .verdict { color: var(--bad); }
.figure { white-space: nowrap; }
.missing, .muted { color: var(--soft); }
.missing { font-style: italic; }
.own { color: var(--own); font-weight: 600; }
figure { margin: 1rem 0; }
.drawing { background: #ffffff; padding: .5rem; }
figure svg { display: block; width: 100%; min-width: 34rem; height: auto; }
figcaption { color: var(--soft); font-size: .88rem; margin-top: .4rem; max-width: 46rem; }
"""
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


# ------------------------------------------------------------------------------ Markdown


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """Return the whole report as Markdown."""
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [block_as_markdown(block) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def block_as_markdown(block: Block) -> str:
    """Return one block as Markdown."""
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Points):
        return "\n".join(f"- {point}" for point in block.points)
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


# ---------------------------------------------------------------------------------- HTML


def as_html(title: str, sections: Sequence[Section]) -> str:
    """Return the whole report as one page: style and drawings are inside it, nothing is fetched."""
    links, body = [], []
    for section in sections:
        name = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")
        links.append(f'<a href="#{name}">{escape(section.title)}</a>')
        blocks = "\n".join(_block_as_html(block) for block in section.blocks)
        body.append(f'<section id="{name}">\n<h2>{escape(section.title)}</h2>\n{blocks}\n</section>')
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f"<nav>{' '.join(links)}</nav>\n{chr(10).join(body)}\n</body>\n</html>\n"
    )


def _block_as_html(block: Block) -> str:
    if isinstance(block, Text):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Points):
        return "<ul>" + "".join(f"<li>{_inline(point)}</li>" for point in block.points) + "</ul>"
    if isinstance(block, Figure):
        label = f'<svg role="img" aria-label="{escape(block.caption)}"'
        svg = block.svg[block.svg.index("<svg") :].replace("<svg", label, 1).strip()
        caption = f"<figcaption>{_inline(block.caption)}</figcaption>"
        return f'<figure>\n<div class="drawing">{svg}</div>\n{caption}\n</figure>'
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in block.header)
    rows = []
    for first, *others in block.rows:
        if not others:
            width = len(block.header)
            rows.append(
                f'<tr class="group"><th scope="colgroup" colspan="{width}">{_inline(first.text)}</th></tr>'
            )
        else:
            heading = _cell_as_html('th scope="row"', first)
            cells = "".join(_cell_as_html("td", cell) for cell in others)
            rows.append(f"<tr>{heading}{cells}</tr>")
    notes = "".join(f'\n<p class="note">{_inline(note)}</p>' for note in block.notes)
    return (
        f'<div class="scroll"><table>\n<caption>{escape(block.title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table></div>{notes}"
    )


def _cell_as_html(tag: str, cell: Cell) -> str:
    figure = cell.tone != "muted" and re.fullmatch(
        r"[\d.,]+( \([\d., n]+\))?", cell.text
    )  # 0.8666 (0.0017, n 5)
    classes = f"{cell.tone} figure" if figure else cell.tone
    attribute = f' class="{classes.strip()}"' if classes else ""
    verdict = f' <span class="verdict">{escape(cell.verdict)}</span>' if cell.verdict else ""
    return f"<{tag}{attribute}>{_inline(cell.text)}{verdict}</{tag[:2]}>"


def _inline(text: str) -> str:
    """Return the text escaped, with Markdown's `code` and [links](to) understood."""
    text = escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', text)
