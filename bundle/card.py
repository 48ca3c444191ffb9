"""Write a bundled model with its card, its licence and its data, and measure it."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bough
from bough.models.bundled import BundledModel
from bough.pipelines import PairPipeline
from bough.version import __version__
from bundle.check import Metrics, Tables, check_relatedness, check_sentiment

LICENSE = "Any use, with attribution of the data; code MIT"
# the data of each model: name, use and terms
DATA: dict[str, list[dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("data.toml").read_text(encoding="utf-8")
)


def write_model(
    model: BundledModel, name: str, out: Path, *, data: Path | str | None, made: Mapping[str, Any]
) -> Tables:
    """Write the model folder, measure it on test, and write its card; `made` says how it was trained."""
    facts = {"name": name, "license": LICENSE, "data": DATA[name], "words": len(model.words), **made}
    facts["made_by"] = f"bough {__version__}"
    model.save(out, card="", facts=facts)
    tables = check_folder(out, data)
    model.save(out, card=model_card(name, facts, tables), facts=facts)
    return tables


def check_folder(
    model: Path | str, data: Path | str | None = None, *, split: str = "test", parser: str = "builtin"
) -> Tables:
    """Measure a model by its name or folder."""
    pipeline = bough.load(model, parser=parser)
    check = check_relatedness if isinstance(pipeline, PairPipeline) else check_sentiment
    return check(pipeline, data, split)


def model_card(name: str, facts: Mapping[str, Any], tables: Tables) -> str:
    """Return the card: the Markdown beside this module, with what was measured in its place."""
    text = Path(__file__).with_name(f"{name}_card.md").read_text(encoding="utf-8")
    data = "\n".join(f"- {one['name']}: {one['terms']}; {one['use']}." for one in facts["data"])
    measured = "\n\n".join(markdown_table(title, rows) for title, rows in tables.items())
    kept = ("trained_by", "parsed_by", "vectors", "words")
    how = json.dumps({key: facts[key] for key in kept if key in facts})
    for place, filled in (("{data}", data), ("{measured}", measured), ("{made}", how)):
        text = text.replace(place, filled)
    return text


def markdown_table(title: str, rows: Mapping[str, Metrics]) -> str:
    """Return a Markdown table: a row per system, a column per metric, percents with one digit."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    lines = [f"| {title} | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for name, row in rows.items():
        cells = [f"{row[c]:.{1 if row[c] > 1 else 3}f}" if c in row else "" for c in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
