"""Claims about the report's HTML: a figure keeps to one line, and text is text."""

from paper.document import Cell, Section, Table, as_html


def page(*cells: Cell) -> str:
    return as_html("Title", [Section("Part", (Table("Table", ("a", "b", "c"), (cells,), ()),))])


def test_figures_are_not_broken_and_sentences_are() -> None:
    html = page(Cell("a row"), Cell("0.8666 (0.0017, n 5)", "within", "within"), Cell("4.59 a long sentence"))
    assert '<td class="within figure">0.8666' in html
    assert "<td>4.59 a long sentence</td>" in html


def test_text_is_escaped() -> None:
    html = page(Cell("<b>"), Cell("a & b", "<i>", "worse"), Cell("`1 < 2`"))
    assert "<b>" not in html
    assert "<i>" not in html
    assert "a &amp; b" in html
    assert "<code>1 &lt; 2</code>" in html
