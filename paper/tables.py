"""Tables 1, 2 and 3, with the paper's numbers beside ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from paper import published as paper
from paper.document import MISSING, NOTHING, Cell, Table, Tone
from paper.parses import NONE, PAPER
from paper.plan import DERIVED, OURS, TOGETHER
from paper.recipes import load_recipe
from paper.results import TOGETHER_NAME, System, vectors_of

Systems = Mapping[str, System]
PERCENT = ("accuracy", "binary", "phrases")  # figures that are shown in percent
EDGE = 1e-9  # rounding must not put a difference of exactly one sd outside
FIVE_SEEDS = (
    "Five seeds are few: with 95% confidence, the mean of many seeds differs from the mean shown by at most 1.2 times "
    "the standard deviation shown, and their standard deviation is 0.6 to 2.9 times the one shown."
)
READING = (
    "Ours: mean (standard deviation, number of seeds). Within: at most one of the paper's standard deviations "
    f"from its mean; above or below: farther. Version: of bough, that made the runs. {FIVE_SEEDS}"
)


def digits_of(figure: str) -> tuple[int, float]:
    """Return the digits after the point of a figure, and its scale: 100 for percent."""
    return (1, 100.0) if figure in PERCENT else (4, 1.0)


def spread(system: System, figure: str) -> str:
    """Return "mean (sd, n seeds)"; a single seed and an ensemble have no sd."""
    digits, scale = digits_of(figure)
    mean = f"{scale * system.mean(figure):.{digits}f}"
    if system.together:
        return f"{mean} ({system.together} together)"
    count = len(system.figures[figure])
    sd = f"{scale * system.sd(figure):.{digits}f}, " if count > 1 else ""
    return f"{mean} ({sd}n {count})"


def cell(system: System | None, figure: str, published: paper.Published | float | None = None) -> Cell:
    """Return our figure, with a verdict if the paper has the figure with a standard deviation."""
    if system is None:
        return MISSING
    if figure not in system.figures:
        return NOTHING
    if not isinstance(published, paper.Published):
        return Cell(spread(system, figure))
    ours = system.mean(figure) * digits_of(figure)[1]
    return Cell(spread(system, figure), *verdict(ours, published, lower_is_better=figure == "mse"))


def verdict(ours: float, published: paper.Published, *, lower_is_better: bool = False) -> tuple[str, Tone]:
    """Return how our mean compares with the paper's mean and sd, in words and as a tone."""
    difference = ours - published.mean
    if abs(difference) <= published.sd + EDGE:
        return "within", "within"
    better = (difference < 0) == lower_is_better
    word = "above" if difference > 0 else "below"
    if lower_is_better:
        word += ", better" if better else ", worse"
    return word, "better" if better else "worse"


def paper_cell(published: paper.Published | float | None, figure: str) -> Cell:
    """Return the paper's figure: mean and standard deviation, or the number that it cites."""
    digits, _ = digits_of(figure)
    if isinstance(published, paper.Published):
        return Cell(f"{published.mean:.{digits}f} ({published.sd:.{digits}f})")
    return NOTHING if published is None else Cell(f"{published:.{digits}f}", "cited")


def _vectors(*systems: System | None) -> Cell:
    names = sorted({system.vectors for system in systems if system is not None})
    return Cell(", ".join(names)) if names else MISSING


def _trees(*systems: System | None) -> Cell:
    """Return whose trees were read; `-` if none were."""
    names = sorted({system.trees for system in systems if system is not None})
    shown = {PAPER: "the paper's", NONE: "-"}
    return Cell(", ".join(shown.get(name, name) for name in names)) if names else MISSING


def _versions(*systems: System | None) -> Cell:
    """Return the versions of bough that made the runs."""
    there = [system for system in systems if system is not None]
    versions = sorted({version for system in there for version in system.versions})
    return Cell(", ".join(versions)) if versions else NOTHING if there else MISSING


def table1() -> Table:
    """Return Table 1, the memory dimensions and parameter counts, of built layers."""
    rows = []
    for title, sizes in paper.TABLE1.items():
        row = [Cell(title)]
        for recipe, *published in sizes:
            config = load_recipe(recipe)
            count = sum(parameter.numel() for parameter in config.build_layer().parameters())
            for mine, theirs in zip((config.hidden_size, count), published, strict=True):
                row += [Cell(f"{mine:,}", "equal" if mine == theirs else "differs"), Cell(f"{theirs:,}")]
        rows.append(tuple(row))
    columns = ("d", "d, paper", "count", "count, paper")
    header = ("LSTM variant", *(f"{task} {what}" for task in ("SICK", "SST") for what in columns))
    note = "d: memory dimension. Count: parameters of the composition function, counted in the built layers."
    return Table("Table 1. Memory dimensions and parameter counts", header, tuple(rows), (note,))


def table2(systems: Systems) -> Table:
    """Return Table 2, the accuracy on the Stanford Sentiment Treebank in percent."""

    def row(title: Cell, name: str, published: Sequence[paper.Published | float | None]) -> tuple[Cell, ...]:
        five, two = systems.get(f"sst5-{name}"), systems.get(f"sst2-{name}")
        fine, binary = (paper_cell(one, "accuracy") for one in published)
        trained, derived = cell(two, "binary", published[1]), cell(five, "binary")
        if name == DERIVED:
            trained = replace(derived, verdict="derived" if five else "")
        ours = cell(five, "accuracy", published[0])
        shown = _vectors(five, two), _trees(five, two), _versions(five, two)
        return title, ours, fine, trained, binary, derived, *shown

    together = {name + TOGETHER_NAME: title for name, title in TOGETHER.items()}
    rows = [
        *_compared(row, paper.TABLE2_CITED, paper.TABLE2),
        (Cell("ours: not in the paper"),),
        *(row(Cell(title, tone="own"), name, [None, None]) for name, title in (OURS | together).items()),
    ]
    header = (
        "method",
        "fine-grained",
        "paper",
        "binary",
        "paper",
        "derived binary",
        "our vectors",
        "our trees",
        "version",
    )
    notes = (
        READING,
        "Binary: trained on the binary task. Derived binary: the five-class model's, P(0) + P(1) against "
        "P(3) + P(4), another number.",
        *_notes(systems, "sst", paper.TABLE2_CITED),
    )
    return Table("Table 2. Stanford Sentiment Treebank, test accuracy, %", header, tuple(rows), notes)


def table3(systems: Systems) -> Table:
    """Return Table 3: Pearson's r, Spearman's rho and the mean squared error on SICK."""

    def row(title: Cell, name: str, published: Sequence[paper.Published | float | None]) -> tuple[Cell, ...]:
        system, cells = systems.get(f"sick-{name}"), [title]
        for figure, theirs in zip(("pearson", "spearman", "mse"), published, strict=True):
            cells += [cell(system, figure, theirs), paper_cell(theirs, figure)]
        return *cells, _vectors(system), _trees(system), _versions(system)

    rows = _compared(row, paper.TABLE3_CITED, paper.TABLE3)
    header = (
        "method",
        "Pearson's r",
        "paper",
        "Spearman's rho",
        "paper",
        "MSE",
        "paper",
        "our vectors",
        "our trees",
        "version",
    )
    notes = (READING, "MSE: lower is better.", *_notes(systems, "sick", paper.TABLE3_CITED))
    return Table("Table 3. SICK semantic relatedness, test", header, tuple(rows), notes)


def _compared(
    row: Callable[..., tuple[Cell, ...]], cited: Sequence[paper.Row], own: Sequence[paper.Row]
) -> list[tuple[Cell, ...]]:
    """Return the rows of the cited systems and of the paper's own, each group below a heading."""
    return [
        (Cell("cited: as the paper quotes them, and rebuilt here"),),
        *(row(Cell(title, tone="cited"), name, figures) for title, name, figures in cited),
        (Cell("the paper's systems"),),
        *(row(Cell(title), name, figures) for title, name, figures in own),
    ]


def _notes(systems: Systems, task: str, cited: Sequence[paper.Row]) -> list[str]:
    """Return a note on each set of vectors, and one on the differences of each rebuilt system."""
    notes = []
    for name, known in vectors_of(systems, task).items():
        share = f" {known} of the training split." if known else ""
        if name != paper.VECTORS:
            share += f" The paper used {paper.VECTORS}: read the columns with that in mind."
        if share:
            notes.append(f"{name}:{share}")
    for title, name, _ in cited:
        notes.append(f"{title.partition(' (')[0]}, rebuilt: {'; '.join(paper.SYSTEM_DIFFERENCES[name])}.")
    return notes


def short_table(table: Table, first: str, columns: Sequence[int]) -> Table:
    """Return some columns of a table, without the cited systems, group headings and verdicts."""
    rows = [row for row in table.rows if len(row) > 1 and row[0].tone != "cited"]
    kept = tuple(tuple(replace(row[i], verdict="") for i in (0, *columns)) for row in rows)
    return Table("", (first, *(table.header[i] for i in columns)), kept)
