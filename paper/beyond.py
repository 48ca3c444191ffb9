"""Tables beyond the paper: trees over pretrained transformers, and what the tree adds to them."""

from paper import published as paper
from paper.claims import CONFIDENCE, contrast
from paper.document import MISSING, NOTHING, Cell, Table
from paper.figures import Drawing
from paper.plan import BEYOND, BEYOND_SICK, BINARY_ENCODER, ENCODERS, OURS, SICK_ENCODER
from paper.results import ENCODER as ENCODER
from paper.tables import Systems, cell, digits_of

KINDS = {
    "contextual": "tree",
    "contextual-mean": "no tree, the mean of the words",
    "contextual-balanced": "balanced trees instead of parses",
    "contextual-attentive": "attention over the children",
}
STATIC, STATIC_SICK = "constituency-regularised", "dependency"
FIGURES = (("accuracy", "fine-grained"), ("binary", "derived binary"), ("phrases", "all phrases"))
FIGURES_SICK = (("pearson", "Pearson's r"), ("spearman", "Spearman's rho"), ("mse", "MSE"))


def name_of(task: str, system: str, encoder: str) -> str:
    return f"{task}-{system}{ENCODER}{encoder}"


def tables(systems: Systems) -> tuple[Table, ...]:
    return sentiment_table(systems), relatedness_table(systems), gains_table(systems)


def sentiment_table(systems: Systems) -> Table:
    """Return SST's accuracy in percent: each encoder with the parse, no tree, and a balanced tree."""

    def row(title: str, fine: str, binary: str) -> tuple[Cell, ...]:
        cells = [cell(systems.get(fine), figure) for figure, _ in FIGURES]
        return Cell(title), *cells, cell(systems.get(binary), "binary") if binary else NOTHING

    rows = [row(OURS[STATIC], f"sst5-{STATIC}", f"sst2-{STATIC}")]
    for encoder, title in ENCODERS.items():
        for system in BEYOND:
            trained = system == "contextual" and encoder == BINARY_ENCODER
            binary = name_of("sst2", system, encoder) if trained else ""
            rows.append(row(f"{title}, {KINDS[system]}", name_of("sst5", system, encoder), binary))
    header = ("encoder and model", *(title for _, title in FIGURES), "binary, trained on two classes")
    notes = (
        "Mean (standard deviation, number of seeds). All phrases: every labelled phrase of the test sentences. Each "
        "encoder has its top four layers tuned, on the same labels and for as many epochs in every row.",
    )
    return Table("Sentiment with an encoder under the tree, test accuracy, %", header, tuple(rows), notes)


def relatedness_table(systems: Systems) -> Table:
    """Return the correlations on SICK."""
    names = {"GloVe, Dependency Tree-LSTM": f"sick-{STATIC_SICK}"}
    for system in BEYOND_SICK:
        kind = "tree and mean" if system == "contextual" else KINDS[system]
        names[f"{ENCODERS[SICK_ENCODER]}, {kind}"] = name_of("sick", system, SICK_ENCODER)
    rows = [
        (Cell(title), *(cell(systems.get(name), figure) for figure, _ in FIGURES_SICK))
        for title, name in names.items()
    ]
    header = ("encoder and model", *(title for _, title in FIGURES_SICK))
    return Table("Relatedness with an encoder under the tree, SICK test", header, tuple(rows))


def gains_table(systems: Systems) -> Table:
    """Return the gain of the tree over each alternative, with confidence intervals by Welch."""
    asked = [
        ("sst5", encoder, other, figure, what)
        for encoder in ENCODERS
        for other in BEYOND[1:]
        for figure, what in FIGURES
    ]
    asked += [("sick", SICK_ENCODER, "contextual-mean", *FIGURES_SICK[0])]
    rows = []
    for task, encoder, other, figure, what in asked:
        tree = systems.get(name_of(task, "contextual", encoder))
        without = systems.get(name_of(task, other, encoder))
        gain = interval = MISSING
        if tree and without and figure in tree.figures.keys() & without.figures.keys():
            found = contrast([(1.0, tree.figures[figure]), (-1.0, without.figures[figure])])
            digits, scale = digits_of(figure)
            interval = Cell("one seed")
            if found.half is not None:
                low, high = (scale * (found.difference + side * found.half) for side in (-1, 1))
                interval = Cell(f"{low:+.{digits}f} to {high:+.{digits}f}")
            gain = Cell(f"{scale * found.difference:+.{digits}f}")
        rows.append((Cell(f"{ENCODERS[encoder]}: tree over {KINDS[other]}"), Cell(what), gain, interval))
    note = f"The {CONFIDENCE:.0%} confidence interval is Welch's; if it contains zero, the difference is undecided."
    header = ("difference", "figure", "gain", "interval")
    return Table("What the tree adds", header, tuple(rows), (note,))


_LINES = [
    paper.Row(f"{title}, {word}", f"{system}{ENCODER}{encoder}")
    for encoder, title in ENCODERS.items()
    for system, word in zip(BEYOND, ("tree", "mean", "balanced"), strict=True)
]
BY_LENGTH = Drawing(
    "figure3-beyond",
    "sst5-",
    (paper.Row("static words, tree", STATIC), *_LINES),
    "Figure 3 with encoders. Fine-grained sentiment: test accuracy against sentence length, in "
    "windows of ±2 words, all longer sentences in the last (45).",
)
