"""Tables 1, 2 and 3: the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from paper import published as paper
from paper.document import MISSING, NOTHING, Cell, Table, Tone
from paper.plan import DERIVED, OURS, TOGETHER
from paper.recipes import load_recipe
from paper.results import TOGETHER_NAME, System, vectors_of
from paper.systems import PARAGRAPH_VEC, SYSTEMS

Systems = Mapping[str, System]
PERCENT = ("accuracy", "binary", "phrases")  # figures that are shown in percent
REBUILT = "cited: as the paper quotes them, and rebuilt here"
EDGE = 1e-9  # a difference of exactly one sd is within, whatever the last bit says
FIVE_SEEDS = (
    "Five seeds tell little of the spread: with 95% confidence, the mean of many seeds is at most 1.2 times the "
    "standard deviation shown away from the mean shown, and their standard deviation is 0.6 to 2.9 times the one shown."
)
READING = (
    "Ours: mean (standard deviation, number of seeds). Within: at most one of the paper's standard deviations "
    f"from its mean; above or below: farther. {FIVE_SEEDS}"
)
# how a cited system, rebuilt here, differs from the original; the systems without a layer say it themselves
SST_DIFFERENCES: dict[str, tuple[str, ...]] = {
    "rnn": (
        "the plain recursive network of that article: no autoencoder was run there",
        "words start U(-0.05, 0.05), one L2 for all weights",
        "the epoch is chosen by the accuracy of whole sentences on dev, not of all phrases",
        "binary: neutral phrases are a third class while training; the authors cut every phrase at the middle "
        "of a scale that the trees do not have",
    ),
    "mv-rnn": (
        "as the RAE row",
        "words have full matrices, drawn as I + U(-0.05, 0.05), whose L2 pulls them to I",
    ),
    "rntn": ("as the RAE row", "words learn at a higher rate than the tensor"),
    "dcnn": (
        "batches of phrases of one length",
        "one L2 for all weights, the bias after folding",
        "binary: trained on phrases that are not neutral, in two classes; the authors' file also has neutral ones, cut "
        "at the middle of a scale that the trees do not have",
    ),
    PARAGRAPH_VEC.name: PARAGRAPH_VEC.differences,
    "cnn-non-static": (
        "GloVe instead of word2vec",
        "batches of phrases of one length, punctuation kept",
        "binary: trained on phrases that are not neutral, in two classes",
    ),
    "cnn-multichannel": ("as CNN-non-static", "the results of both channels are averaged, not added"),
    "drnn": (
        "GloVe instead of word2vec",
        "no L2 on activations",
        "dropout is drawn for every node, as in the authors' program, not for every sentence",
        "binary: read off the five-class model, as the authors did",
    ),
}


# --------------------------------------------------------------------------------- cells


def spread(system: System, figure: str) -> str:
    """Return "mean (sd, n seeds)"; a single seed has no sd, and neither have seeds together."""
    digits, scale = (1, 100.0) if figure in PERCENT else (4, 1.0)
    mean = f"{scale * system.mean(figure):.{digits}f}"
    if system.together:
        return f"{mean} ({system.together} together)"
    count = len(system.figures[figure])
    sd = f"{scale * system.sd(figure):.{digits}f}, " if count > 1 else ""
    return f"{mean} ({sd}n {count})"


def cell(system: System | None, figure: str, published: paper.Published | None = None) -> Cell:
    """Return our figure, with the verdict on it if the paper has one with a standard deviation."""
    if system is None:
        return MISSING
    if figure not in system.figures:
        return NOTHING
    if published is None:
        return Cell(spread(system, figure))
    ours = system.mean(figure) * (100 if figure in PERCENT else 1)
    return Cell(spread(system, figure), *verdict(ours, published, lower_is_better=figure == "mse"))


def verdict(ours: float, published: paper.Published, *, lower_is_better: bool = False) -> tuple[str, Tone]:
    """Return where our mean lies by the paper's mean and sd, in words, and its tone: within, better or worse."""
    difference = ours - published.mean
    if abs(difference) <= published.sd + EDGE:
        return "within", "within"
    better = (difference < 0) == lower_is_better
    word = "above" if difference > 0 else "below"
    if lower_is_better:
        word += ", better" if better else ", worse"
    return word, "better" if better else "worse"


def _published(published: paper.Published, digits: int) -> Cell:
    return Cell(f"{published.mean:.{digits}f} ({published.sd:.{digits}f})", tone="muted")


def _cited(value: float | None, digits: int) -> Cell:
    return NOTHING if value is None else Cell(f"{value:.{digits}f}", "cited", "muted")


def _citation(cited: paper.Cited) -> Cell:
    return Cell(f"{cited.title} ({cited.source})", tone="muted")


def _vectors(*systems: System | None) -> Cell:
    names = sorted({system.vectors for system in systems if system is not None})
    return Cell(", ".join(names)) if names else MISSING


# -------------------------------------------------------------------------------- tables


def table1() -> Table:
    """Return memory dimensions and parameter counts, of models built here and now."""
    rows = []
    for title, sick, sst, *published in paper.TABLE1:
        row = [Cell(title)]
        for recipe, size in zip((sick, sst), published, strict=True):
            config = load_recipe(recipe)
            count = sum(parameter.numel() for parameter in config.build_layer().parameters())
            for mine, theirs in zip((config.hidden_size, count), size, strict=True):
                same = mine == theirs
                row += [Cell(f"{mine:,}", "equal" if same else "differs", "within" if same else "worse")]
                row += [Cell(f"{theirs:,}", tone="muted")]
        rows.append(tuple(row))
    columns = ("d", "d, paper", "count", "count, paper")
    header = ("LSTM variant", *(f"{task} {what}" for task in ("SICK", "SST") for what in columns))
    notes = (
        "d: memory dimension. Count: parameters of the composition function, counted in the built layers.",
    )
    return Table("Table 1. Memory dimensions and parameter counts", header, tuple(rows), notes)


def table2(systems: Systems) -> Table:
    """Return the accuracy on the Stanford Sentiment Treebank, in percent."""

    def row(
        title: Cell,
        name: str,
        theirs: Sequence[Cell],
        fine: paper.Published | None = None,
        binary: paper.Published | None = None,
    ) -> tuple[Cell, ...]:
        five, two = systems.get(f"sst5-{name}"), systems.get(f"sst2-{name}")
        trained = cell(two, "binary", binary)
        derived = cell(five, "binary")
        if name == DERIVED:
            trained = replace(derived, verdict="derived" if five else "")
        return (
            title,
            cell(five, "accuracy", fine),
            theirs[0],
            trained,
            theirs[1],
            derived,
            _vectors(five, two),
        )

    rows: list[tuple[Cell, ...]] = [(Cell(REBUILT),)]
    rows += [
        row(_citation(c), c.system, [_cited(value, 1) for value in c.figures]) for c in paper.TABLE2_CITED
    ]
    rows.append((Cell("the paper's systems"),))
    for title, name, published in paper.TABLE2:
        rows.append(row(Cell(title), name, [_published(one, 1) for one in published], *published))
    rows.append((Cell("ours: not in the paper"),))
    rows += [row(Cell(title, tone="own"), name, [NOTHING, NOTHING]) for title, name in own_rows()]
    header = ("method", "fine-grained", "paper", "binary", "paper", "derived binary", "our vectors")
    notes = (
        READING,
        "Binary: trained on the binary task. Derived binary: the five-class model's, P(0) + P(1) against "
        "P(3) + P(4), another number.",
        *_vectors_notes(systems, "sst"),
        *_differences(paper.TABLE2_CITED),
    )
    return Table("Table 2. Stanford Sentiment Treebank, test accuracy, %", header, tuple(rows), notes)


def table3(systems: Systems) -> Table:
    """Return Pearson's r, Spearman's rho and the mean squared error on SICK."""
    figures = ("pearson", "spearman", "mse")
    rows: list[tuple[Cell, ...]] = [(Cell(REBUILT),)]
    for cited in paper.TABLE3_CITED:
        system, cells = systems.get(f"sick-{cited.system}"), []
        for figure, value in zip(figures, cited.figures, strict=True):
            cells += [cell(system, figure), _cited(value, 4)]
        rows.append((_citation(cited), *cells, _vectors(system)))
    rows.append((Cell("the paper's systems"),))
    for title, name, published in paper.TABLE3:
        system, cells = systems.get(f"sick-{name}"), []
        for figure, theirs in zip(figures, published, strict=True):
            cells += [cell(system, figure, theirs), _published(theirs, 4)]
        rows.append((Cell(title), *cells, _vectors(system)))
    header = ("method", "Pearson's r", "paper", "Spearman's rho", "paper", "MSE", "paper", "our vectors")
    notes = (
        READING,
        "MSE: lower is better.",
        *_vectors_notes(systems, "sick"),
        *_differences(paper.TABLE3_CITED),
    )
    return Table("Table 3. SICK semantic relatedness, test", header, tuple(rows), notes)


def own_rows() -> list[tuple[str, str]]:
    """Return title and system of the rows that are not in the paper; of some the seeds stand together, too."""
    ours = [(title, name) for name, title in OURS.items()]
    return ours + [(title, name + TOGETHER_NAME) for name, title in TOGETHER.items()]


def _vectors_notes(systems: Systems, task: str) -> list[str]:
    """Return a note per set of vectors: how much of the training split it knows, and that it is not the paper's."""
    notes = []
    for name, known in vectors_of(systems, task).items():
        share = f" {known} of the training split." if known else ""
        if name != paper.VECTORS:
            share += f" The paper used {paper.VECTORS}: read the columns with that in mind."
        if share:
            notes.append(f"{name}:{share}")
    return notes


def _differences(rows: Sequence[paper.Cited]) -> list[str]:
    """Return a note per system that is rebuilt."""
    found = {**SST_DIFFERENCES, **{name: system.differences for name, system in SYSTEMS.items()}}
    return [f"{row.title}, rebuilt: {'; '.join(found[row.system])}." for row in rows if row.system in found]
