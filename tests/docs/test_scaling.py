"""Claims about docs/scaling.md: its tables are those that the committed measurements give."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_computed_from_the_measurements() -> None:
    spec = importlib.util.spec_from_file_location("scaling", ROOT / "tools" / "scaling.py")
    assert spec is not None
    assert spec.loader is not None
    scaling = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scaling)
    page = scaling.PAGE.read_text()
    found = scaling.tables(json.loads(scaling.FACTS.read_text()))
    assert "**Computed**" in found
    assert scaling.write(page, found) == page
    assert found in page
