"""From finished runs to the report, in seconds: the same results give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bough.files import write_json, write_text
from paper import beyond
from paper import published as paper
from paper.claims import claims_table
from paper.document import Block, Cell, Points, Section, Table, Text, as_html, as_markdown
from paper.figures import FIGURE3, FIGURE4, Drawing, draw
from paper.neighbours import stored_neighbours, table4
from paper.plan import TABLE4_RUN, planned
from paper.results import Result, System, all_finished, summary, systems, with_ensembles
from paper.tables import table1, table2, table3

TITLE = "The Tree-LSTM paper, run again"
NOTES = "[docs/paper.md](../docs/paper.md)"
DIFFERENCES = (
    "Word vectors: the paper used GloVe 840B throughout. The vectors behind each of our numbers stand beside it.",
    "Sequential LSTMs on SST: in the authors' released program the sampled spans gave the forward LSTM no gradient. "
    "Here every span trains every direction, so these rows may come out above the paper's. A batch has 5 sentences "
    "with up to 4 spans each, where the paper has 25.",
    "Word vectors on SST move by plain gradient descent, without AdaGrad and L2, as in the released program.",
    "Dropout on SICK, for the claim: each of the two sentence vectors has a mask of its own; the text does not say how "
    "it was drawn.",
    "Constituency leaves: `c = W x + b`, without gates, as in the released program and as Table 1's counts require.",
    "Relatedness models have no output gate (`h = tanh(c)`); Table 1's counts again.",
    "Losses: SST sums over labelled nodes and divides by the trees of the batch; SICK divides the KL divergence by "
    "five as well. Both follow the released program, not the text.",
    "Epochs: the paper gives none; 10 unless a recipe says otherwise. The first best epoch on dev is kept, and test "
    "is read once, with that model.",
    "Table 4: a sample of our own, so the sentences that can be found differ.",
    "Figures 3 and 4: windows and tails as in the captions; their first centre and step are read off the drawings.",
)


def write_report(out: Path, data: Path, overrides: Mapping[str, str] | None = None) -> list[Section]:
    """`results.json`, the report as Markdown and HTML, and the figures, into `out`; the sections are returned."""
    results = all_finished(out, data, overrides)
    found = with_ensembles(systems(results), results, data)
    sentiment, relatedness = table2(found), table3(found)
    opening = (
        "Every table and figure of “Improved Semantic Representations From Tree-Structured Long Short-Term Memory "
        f"Networks” ({paper.AUTHORS}), the paper's numbers beside ours, from {len(results)} finished runs of "
        f"{len(found)} systems. What has not been run is shown as missing. Nothing was chosen on test."
    )
    sections = [
        Section("In short", (Text(opening), Points(in_short(sentiment, relatedness)))),
        Section("Parameter counts", (table1(),)),
        Section("Sentiment", (sentiment,)),
        Section("Relatedness", (relatedness,)),
        Section("Sentence length", tuple(_figure(drawing, found, out) for drawing in (FIGURE3, FIGURE4))),
        Section("Nearest sentences", (table4(stored_neighbours(out, data, planned(TABLE4_RUN, overrides))),)),
        Section("Claims", (claims_table(found),)),
        Section("What was run", _what_was_run(results, found, data)),
        Section(
            "What differs from the paper",
            (Points(DIFFERENCES), Text(f"Each in full, with its place in the code: {NOTES}.")),
        ),
    ]
    if beyond.any_run(found):
        blocks = (*beyond.tables(found), _figure(beyond.BY_LENGTH, found, out))
        sections.insert(-2, Section("Beyond the paper", blocks))
    write_json(out / "results.json", summary(found))
    write_text(out / "report.md", as_markdown(TITLE, sections))
    write_text(out / "report.html", as_html(TITLE, sections))
    return sections


def in_short(*tables: Table) -> tuple[str, ...]:
    """How many of a table's figures lie where."""
    points = []
    for table in tables:
        tones = [cell.tone for row in table.rows for cell in row]
        within, better, worse = (tones.count(tone) for tone in ("within", "better", "worse"))
        count = within + better + worse
        points.append(
            f"{table.title}: of {count} figures, within one of the paper's standard deviations: {within}, "
            f"better: {better}, worse: {worse}."
        )
    return tuple(points)


def _figure(drawing: Drawing, found: Mapping[str, System], out: Path) -> Block:
    return draw(drawing, found, out) or Text(f"{drawing.caption} Missing: none of its systems has been run.")


def _what_was_run(results: Sequence[Result], found: Mapping[str, System], data: Path) -> tuple[Block, ...]:
    rows = []
    for system in found.values():
        seeds, seconds = ", ".join(map(str, system.seeds)), f"{system.seconds:.0f}"
        rows.append((Cell(system.name), Cell(seeds), Cell(system.vectors), Cell(seconds)))
    packages = (result["versions"].items() for result in results)
    versions = sorted({", ".join(f"{name} {version}" for name, version in used) for used in packages})
    hours = sum(result["seconds"] for result in results) / 3600
    splits = ("train", "dev", "test")
    trees = [_lines(data / "sst" / "trees" / f"{split}.txt") for split in splits]
    polar = [[line for line in lines if not line.startswith("(2 ")] for lines in trees]
    pairs = [_lines(data / "sick" / split / "id.txt") for split in splits]
    examples = {"SST, sentences": trees, "SST, sentences that are not neutral": polar, "SICK, pairs": pairs}
    points = []
    for name, parts in examples.items():
        points.append(f"Data: {name} {'/'.join(f'{len(lines):,}' for lines in parts)} (train/dev/test).")
    points += [f"Versions: {line}." for line in versions]
    points.append(
        f"Time: {hours:.1f} hours of runs, added up by the clock; each is one process of one thread."
    )
    header = ("system", "seeds", "vectors", "seconds per run")
    notes = ("A `+` sets something over the recipe of that name.",)
    return Points(tuple(points)), Table("Runs", header, tuple(rows), notes)


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
