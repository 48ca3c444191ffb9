"""Write the report and tables from finished runs. The same results give the same bytes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bough.files import write_json, write_text
from paper import beyond
from paper import published as paper
from paper.claims import claims_table, main_claim_table
from paper.document import Block, Cell, Figure, Sections, Table, as_html, as_markdown, grid
from paper.figures import FIGURE3, FIGURE4, draw
from paper.neighbours import stored_neighbours, table4
from paper.parser_cost import cost_line, cost_table
from paper.plan import BINARY_ENCODER, TABLE4_RUN, planned
from paper.results import (
    Result,
    all_finished,
    from_summary,
    stored_line,
    summary,
    systems,
    vectors_of,
    with_ensembles,
)
from paper.sick import TEXTS
from paper.tables import FIVE_SEEDS, Systems, short_table, spread, table1, table2, table3

TITLE = "The Tree-LSTM paper, run again"
NOTES = "[docs/paper.md](../docs/paper.md)"
# the rows of the README's table: label, Table 2 (0) or 3 (1), column of our figure; the paper's is in the next column
HEADLINE = (
    ("SST, five classes, accuracy in %", 0, 1),
    ("SST, two classes, accuracy in %", 0, 3),
    ("SICK, Pearson's r", 1, 1),
    ("SICK, Spearman's rho", 1, 3),
    ("SICK, mean squared error", 1, 5),
)
# the titles of both Tree-LSTMs in the two tables
TREE_LSTMS = ({"Dependency Tree-LSTM"}, {"Constituency Tree-LSTM", "Constituency Tree-LSTM, GloVe tuned"})


def write_report(out: Path, data: Path, overrides: Mapping[str, str] | None = None) -> Sections:
    """Write `results.json`, the report and the figures into `out`; return the sections."""
    results = all_finished(out, data, overrides)
    found = with_ensembles(systems(results), results, data)
    sentiment, relatedness = table2(found), table3(found)
    opening = (
        "Every table and figure of “Improved Semantic Representations From Tree-Structured Long Short-Term Memory "
        f"Networks” ({paper.AUTHORS}), the paper's numbers beside ours, from {len(results)} finished runs of "
        f"{len(found)} systems. What has not been run is shown as missing. Nothing was chosen on test. "
        f"{stored_line(found)}"
    ).rstrip()
    drawn: dict[str, Block] = {}
    for drawing in (FIGURE3, FIGURE4, beyond.BY_LENGTH):
        missing = f"{drawing.caption} Missing: none of its systems has been run."
        drawn[drawing.name] = draw(drawing, found, out) or missing
    sections: dict[str, tuple[Block, ...]] = {
        "In short": (opening, in_short(sentiment, relatedness)),
        "Parameter counts": (table1(),),
        "Sentiment": (sentiment,),
        "Relatedness": (relatedness,),
        "Sentence length": (drawn["figure3"], drawn["figure4"]),
        "Nearest sentences": (table4(stored_neighbours(out, data, planned(TABLE4_RUN, overrides))),),
        "Claims": (main_claim_table(found), claims_table(found)),
    }
    if any(beyond.ENCODER in name for name in found):
        sections["Beyond the paper"] = (*beyond.tables(found), drawn[beyond.BY_LENGTH.name])
    if any("+trees=" in name for name in found):
        sections["What the parser costs"] = (cost_table(found),)
    sections["What was run"] = _what_was_run(results, found, data)
    in_full = f"Each in full, with its place in the code: {NOTES}."
    sections["What differs from the paper"] = (paper.PAPER_DIFFERENCES, in_full)
    write_json(out / "results.json", summary(found))
    markdown = as_markdown(TITLE, sections)
    write_text(out / "report.md", markdown)
    figures = [block for block in drawn.values() if isinstance(block, Figure)]
    write_text(out / "report.html", as_html(TITLE, markdown, figures))
    return sections


def in_short(*tables: Table) -> tuple[str, ...]:
    """Return a sentence for each table: how many of its figures are within, better and worse."""
    points = []
    for table in tables:
        tones = [cell.tone for row in table.rows for cell in row]
        within, better, worse = (tones.count(tone) for tone in ("within", "better", "worse"))
        counts = f"within one of the paper's standard deviations: {within}, better: {better}, worse: {worse}"
        points.append(f"{table.title}: of {within + better + worse} figures, {counts}.")
    return tuple(points)


def _what_was_run(results: Sequence[Result], found: Systems, data: Path) -> tuple[Block, ...]:
    def lines(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        return [line for line in text.split("\n") if line.strip()]

    splits = ("train", "dev", "test")
    trees = [lines(data / "sst" / "trees" / f"{split}.txt") for split in splits]
    examples = {
        "SST, sentences": trees,
        "SST, sentences that are not neutral": [[t for t in s if not t.startswith("(2 ")] for s in trees],
        "SICK, pairs": [
            lines(data / "sick" / split / "id.txt") or lines(data / "sick" / TEXTS[split][0])[1:]
            for split in splits
        ],
    }
    sizes = {name: "/".join(f"{len(part):,}" for part in parts) for name, parts in examples.items()}
    points = [f"Data: {name} {counts} (train/dev/test)." for name, counts in sizes.items()]
    packages = (result["versions"].items() for result in results)
    versions = {", ".join(f"{name} {version}" for name, version in used) for used in packages}
    points += [f"Versions: {line}." for line in sorted(versions)]
    hours = sum(result["seconds"] for result in results) / 3600
    points += [f"Time: {hours:.1f} hours of runs, added up by the clock; each is one process of one thread."]
    rows = []
    for system in found.values():
        cells = (system.name, ", ".join(map(str, system.seeds)), system.vectors, f"{system.seconds:.0f}")
        rows.append(tuple(map(Cell, cells)))
    header = ("system", "seeds", "vectors", "seconds per run")
    notes = ("A `+` sets something over the recipe of that name.",)
    return tuple(points), Table("Runs", header, tuple(rows), notes)


def update_readme(path: Path, results: Mapping[str, Any]) -> None:
    """Fill the markers of a file from `results.json`. Raise ValueError if it has none."""
    text = path.read_text(encoding="utf-8")
    page = filled(text, results)
    if page is None:
        lines = " and ".join(markers("results"))
        raise ValueError(f"{path}: no place for the results; add the lines {lines}")
    write_text(path, page)


def filled(text: str, results: Mapping[str, Any]) -> str | None:
    """Return a page with its markers filled from `results.json`, or None if it has none."""
    found, count = from_summary(results), 0
    for name, make in MADE.items():
        between = re.compile("({}).*?({})".format(*markers(name)), re.DOTALL)
        text, places = between.subn(lambda match, make=make: match[1] + make(found) + match[2], text)  # type: ignore[misc]
        count += places
    return text if count else None


def markers(name: str) -> tuple[str, str]:
    """Return the markers at the begin and the end of a block."""
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def _headline(systems: Systems) -> str:
    """Return the README's table: both Tree-LSTMs on both tasks, the paper's figures beside ours."""
    tables = (table2(systems), table3(systems))
    rows = []
    for label, table, column in HEADLINE:
        cells = [Cell(label)]
        for titles in TREE_LSTMS:
            [row] = [row for row in tables[table].rows if row[0].text in titles]
            cells += [replace(row[column], verdict=""), row[column + 1]]
        rows.append(tuple(cells))
    header = ("test split", "Dependency Tree-LSTM", "paper", "Constituency Tree-LSTM", "paper")
    shown = {name: system for name, system in systems.items() if "trees=" not in name}
    blocks = [grid(Table("", header, tuple(rows))), stored_line(shown)]
    return "\n\n" + "\n\n".join(filter(None, blocks)) + "\n\n"


def _leaves(systems: Systems) -> str:
    """Return the accuracy on SST of a tree over a transformer."""
    names = (beyond.name_of(task, "contextual", BINARY_ENCODER) for task in ("sst5", "sst2"))
    fine, binary = map(systems.get, names)
    if fine is None or binary is None:
        return "not run yet"
    five, two = spread(fine, "accuracy"), spread(binary, "binary")
    return f"{five} percent in five classes and {two} in two with {fine.vectors}"


def _results(systems: Systems) -> str:
    blocks = [
        "Test figures: ours as mean (standard deviation, number of seeds), the paper's beside them as mean "
        f"(standard deviation). {FIVE_SEEDS} {stored_line(systems)}".rstrip()
    ]
    sick = short_table(table3(systems), "SICK", (1, 2, 3, 4, 5, 6))
    sst = short_table(table2(systems), "SST", (1, 2, 3, 4))
    trained = "SST accuracy in percent, binary trained as such"
    for task, what, table in (("sick", "SICK relatedness", sick), ("sst", trained, sst)):
        used = [f"{name} ({known})" if known else name for name, known in vectors_of(systems, task).items()]
        vectors = f", with {', '.join(used)}" if used else ": nothing has been run yet"
        blocks += [grid(table), f"{what}{vectors}. The paper: {paper.VECTORS}."]
    return "\n\n" + "\n\n".join(blocks) + "\n\n"


def _beyond(systems: Systems) -> str:
    blocks = []
    for table in beyond.tables(systems):
        blocks += [f"{table.title}:", grid(table), *table.notes]
    return "\n\n" + "\n\n".join(blocks) + "\n\n"


def _parser(systems: Systems) -> str:
    table = cost_table(systems)
    return f"\n\n{grid(table)}\n\n{table.notes[0]}\n\n"


MADE = {"headline": _headline, "leaves": _leaves, "results": _results, "beyond": _beyond}
MADE |= {"parser": _parser, "parser-line": cost_line}
