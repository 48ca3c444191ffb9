"""Claims about docs/scaling.md: its tables are those that the committed measurements give."""

import json

from benchmarks import scaling


def test_the_tables_are_computed_from_the_measurements() -> None:
    page = scaling.PAGE.read_text()
    found = scaling.tables(json.loads(scaling.FACTS.read_text()))
    assert "**Computed**" in found
    assert scaling.write(page, found) == page
    assert found in page
