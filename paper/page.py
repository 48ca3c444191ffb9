"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from paper.document import Block, Cell, Figure, Points, Section, Table, Text

_FIGURE = re.compile(r"[\d.,]+( \([\d., n]+\))?")  # 0.8666 (0.0017, n 5)
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


def as_html(title: str, sections: Sequence[Section]) -> str:
    """The whole as one page: style and drawings inside it, nothing fetched from anywhere."""
    names = [re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") for section in sections]
    links = " ".join(
        f'<a href="#{name}">{escape(section.title)}</a>'
        for name, section in zip(names, sections, strict=True)
    )
    body = "\n".join(
        f'<section id="{name}">\n<h2>{escape(section.title)}</h2>\n'
        + "\n".join(_block(block) for block in section.blocks)
        + "\n</section>"
        for name, section in zip(names, sections, strict=True)
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n<nav>{links}</nav>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Points):
        return "<ul>" + "".join(f"<li>{_inline(point)}</li>" for point in block.points) + "</ul>"
    if isinstance(block, Figure):
        svg = block.svg[block.svg.index("<svg") :].replace(
            "<svg", f'<svg role="img" aria-label="{escape(block.caption)}"', 1
        )
        caption = f"<figcaption>{_inline(block.caption)}</figcaption>"
        return f'<figure>\n<div class="drawing">{svg.strip()}</div>\n{caption}\n</figure>'
    return _table(block)


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    rows = "\n".join(_row(row, len(table.header)) for row in table.rows)
    notes = "".join(f'\n<p class="note">{_inline(note)}</p>' for note in table.notes)
    return (
        f'<div class="scroll"><table>\n<caption>{escape(table.title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>{notes}"
    )


def _row(row: Sequence[Cell], width: int) -> str:
    if len(row) == 1 < width:
        return f'<tr class="group"><th scope="colgroup" colspan="{width}">{escape(row[0].text)}</th></tr>'
    first, *others = row
    cells = "".join(f"<td{_class(cell)}>{_said(cell)}</td>" for cell in others)
    return f'<tr><th scope="row"{_class(first)}>{_said(first)}</th>{cells}</tr>'


def _class(cell: Cell) -> str:
    figure = cell.tone != "muted" and _FIGURE.fullmatch(cell.text)
    names = " ".join([*([cell.tone] if cell.tone else []), *(["figure"] if figure else [])])
    return f' class="{names}"' if names else ""


def _said(cell: Cell) -> str:
    verdict = f' <span class="verdict">{escape(cell.verdict)}</span>' if cell.verdict else ""
    return _inline(cell.text) + verdict


def _inline(text: str) -> str:
    """Escaped, with Markdown's `code` and [links](to) understood."""
    text = escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', text)
