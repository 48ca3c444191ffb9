"""Read the paper's numbers, its claims and our differences from TOML files."""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

AUTHORS = "Tai, Socher and Manning, 2015"
VECTORS = "glove.840B.300d"  # the word vectors of the paper
SICK_CREDIT = "SICK: Marelli et al., 2014, CC BY-NC-SA 3.0"


class Published(NamedTuple):
    """A mean over five runs and its standard deviation."""

    mean: float
    sd: float


class Row(NamedTuple):
    """One row of Table 2 or 3: its title, the end of its recipe's name, and the paper's figures.

    A figure that the paper quotes from others is a number without a standard deviation, or None.
    """

    title: str
    system: str
    figures: tuple[Published | float | None, ...] = ()


def read_toml(name: str) -> dict[str, Any]:
    """Read a TOML file beside this one."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _rows(table: str, columns: int) -> tuple[Row, ...]:
    """Return the rows of a table, with None for the figures that the paper does not have."""
    found = []
    for name, row in _TABLES[table].items():
        title = f"{row['title']} ({row['source']})" if "source" in row else row["title"]
        figures = [Published(*one) if isinstance(one, list) else one for one in row["figures"]]
        found.append(Row(title, name, (*figures, *[None] * (columns - len(figures)))))
    return tuple(found)


_TABLES, _DIFFERENCES = read_toml("published.toml"), read_toml("differences.toml")
# title -> (recipe, memory dimension, count of composition parameters) for SICK and for SST
TABLE1: dict[str, list[tuple[str, int, int]]] = _TABLES["table1"]
TABLE2, TABLE2_CITED = _rows("table2", 2), _rows("table2_cited", 2)
TABLE3, TABLE3_CITED = _rows("table3", 3), _rows("table3_cited", 3)
# queries and their nearest sentences, by cosine and by model
TABLE4: list[dict[str, Any]] = _TABLES["table4"]
QUERIES: tuple[str, ...] = tuple(entry["query"] for entry in TABLE4)
CLAIMS: list[dict[str, Any]] = read_toml("claims.toml")["claim"]
PAPER_DIFFERENCES: tuple[str, ...] = tuple(_DIFFERENCES["paper"])
SYSTEM_DIFFERENCES: dict[str, list[str]] = _DIFFERENCES["systems"]
