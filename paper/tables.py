"""Tables 1, 2 and 3: the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from paper import published as paper
from paper.config import PaperConfig
from paper.differences import departures
from paper.document import MISSING, NOTHING, Cell, Table, Tone
from paper.ensemble import TOGETHER_NAME
from paper.plan import DERIVED, OURS, TOGETHER
from paper.recipes import load_recipe
from paper.results import System, vectors_of

Systems = Mapping[str, System]
FIGURES = ("pearson", "spearman", "mse")
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


def verdict(ours: float, published: paper.Published, *, lower_is_better: bool = False) -> tuple[str, Tone]:
    """Where our mean lies by the paper's mean and sd, in words, and the tone of it: within, better or worse."""
    assert published.sd is not None
    difference = ours - published.mean
    if abs(difference) <= published.sd + EDGE:
        return "within", "within"
    better = (difference < 0) == lower_is_better
    word = "above" if difference > 0 else "below"
    if lower_is_better:
        word += ", better" if better else ", worse"
    return word, "better" if better else "worse"


def parameter_count(config: PaperConfig) -> int:
    """Of the composition function, counted in the layer as it is built."""
    return sum(parameter.numel() for parameter in config.build_layer().parameters())


def table1() -> Table:
    """Memory dimensions and parameter counts, of models built here and now."""
    rows = []
    for title, sick, sst, *published in paper.TABLE1:
        row = [Cell(title)]
        for recipe, size in zip((sick, sst), published, strict=True):
            config = load_recipe(recipe)
            ours = paper.Size(config.hidden_size, parameter_count(config))
            for mine, theirs in zip(ours, size, strict=True):
                same = mine == theirs
                row += [Cell(f"{mine:,}", "equal" if same else "differs", "within" if same else "worse")]
                row += [Cell(f"{theirs:,}", tone="muted")]
        rows.append(tuple(row))
    header = ["LSTM variant"]
    header += [
        f"{task} {what}" for task in ("SICK", "SST") for what in ("d", "d, paper", "count", "count, paper")
    ]
    notes = (
        "d: memory dimension. Count: parameters of the composition function, counted in the built layers.",
    )
    return Table("Table 1. Memory dimensions and parameter counts", tuple(header), tuple(rows), notes)


def table2(systems: Systems) -> Table:
    """Accuracy on the Stanford Sentiment Treebank, in percent."""
    rows: list[tuple[Cell, ...]] = [(Cell(REBUILT),)]
    for cited in paper.TABLE2_CITED:
        five, two = systems.get(f"sst5-{cited.system}"), systems.get(f"sst2-{cited.system}")
        own = _percent(two, "binary")
        if cited.system == DERIVED:
            own = replace(_percent(five, "binary"), verdict="derived" if five else "")
        quoted = [_cited(value, 1) for value in cited.figures]
        scores = (_percent(five, "accuracy"), quoted[0], own, quoted[1], _percent(five, "binary"))
        rows.append((_citation(cited), *scores, _vectors(five, two)))
    rows.append((Cell("the paper's systems"),))
    for title, name, (fine, binary) in paper.TABLE2:
        five, two = systems.get(f"sst5-{name}"), systems.get(f"sst2-{name}")
        rows.append(
            (
                Cell(title),
                _percent(five, "accuracy", fine),
                _published(fine, 1),
                _percent(two, "binary", binary),
                _published(binary, 1),
                _percent(five, "binary"),
                _vectors(five, two),
            )
        )
    rows.append((Cell("ours: not in the paper"),))
    for title, name, ending in own_rows():
        five, two = systems.get(f"sst5-{name}{ending}"), systems.get(f"sst2-{name}{ending}")
        scores = (
            _percent(five, "accuracy"),
            NOTHING,
            _percent(two, "binary"),
            NOTHING,
            _percent(five, "binary"),
        )
        rows.append((Cell(title, tone="own"), *scores, _vectors(five, two)))
    header = ("method", "fine-grained", "paper", "binary", "paper", "derived binary", "our vectors")
    notes = [
        READING,
        "Binary: trained on the binary task. Derived binary: the five-class model's, P(0) + P(1) against "
        "P(3) + P(4), another number.",
    ]
    notes += _knowing(systems, "sst")
    notes += departures(paper.TABLE2_CITED)
    return Table("Table 2. Stanford Sentiment Treebank, test accuracy, %", header, tuple(rows), tuple(notes))


def table3(systems: Systems) -> Table:
    """Pearson's r, Spearman's rho and the mean squared error on SICK."""
    rows: list[tuple[Cell, ...]] = [(Cell(REBUILT),)]
    for cited in paper.TABLE3_CITED:
        system = systems.get(f"sick-{cited.system}")
        cells = []
        for figure, value in zip(FIGURES, cited.figures, strict=True):
            cells += [_correlation(system, figure), _cited(value, 4)]
        rows.append((_citation(cited), *cells, _vectors(system)))
    rows.append((Cell("the paper's systems"),))
    for title, name, figures in paper.TABLE3:
        system = systems.get(f"sick-{name}")
        cells = []
        for figure, published in zip(FIGURES, figures, strict=True):
            cells += [_correlation(system, figure, published), _published(published, 4)]
        rows.append((Cell(title), *cells, _vectors(system)))
    header = ("method", "Pearson's r", "paper", "Spearman's rho", "paper", "MSE", "paper", "our vectors")
    notes = (
        READING, "MSE: lower is better.", *_knowing(systems, "sick"), *departures(paper.TABLE3_CITED)
    )  # fmt: skip
    return Table("Table 3. SICK semantic relatedness, test", header, tuple(rows), notes)


def own_rows() -> list[tuple[str, str, str]]:
    """The rows that are not in the paper: title, system, and what its name ends in if its seeds stand together."""
    ours = [(title, name, "") for name, title in OURS.items()]
    return ours + [(title, name, TOGETHER_NAME) for name, title in TOGETHER.items()]


def spread(system: System, figure: str, digits: int, scale: float = 1.0) -> str:
    """Mean (sd, n seeds); a single seed has no sd, and neither have seeds together."""
    if system.together:
        return f"{scale * system.mean(figure):.{digits}f} ({system.together} together)"
    count = len(system.figures[figure])
    sd = f"{scale * system.sd(figure):.{digits}f}, " if count > 1 else ""
    return f"{scale * system.mean(figure):.{digits}f} ({sd}n {count})"


def _percent(system: System | None, figure: str, published: paper.Published | None = None) -> Cell:
    if system is None or figure not in system.figures:
        return MISSING
    text = spread(system, figure, 1, 100.0)
    if published is None:
        return Cell(text)
    return Cell(text, *verdict(100 * system.mean(figure), published))


def _correlation(system: System | None, figure: str, published: paper.Published | None = None) -> Cell:
    if system is None:
        return MISSING
    if published is None:
        return Cell(spread(system, figure, 4))
    word, tone = verdict(system.mean(figure), published, lower_is_better=figure == "mse")
    return Cell(spread(system, figure, 4), word, tone)


def _published(published: paper.Published, digits: int) -> Cell:
    return Cell(f"{published.mean:.{digits}f} ({published.sd:.{digits}f})", tone="muted")


def _cited(value: float | None, digits: int) -> Cell:
    return NOTHING if value is None else Cell(f"{value:.{digits}f}", "cited", "muted")


def _citation(cited: paper.Cited) -> Cell:
    return Cell(f"{cited.title} ({cited.source})", tone="muted")


def _knowing(systems: Systems, task: str) -> list[str]:
    """One note per set of vectors: how much of the training split it knows, and that it is not the paper's."""
    notes = []
    for name, known in vectors_of(systems, task).items():
        share = f" {known} of the training split." if known else ""
        paper_s = f" The paper used {paper.VECTORS}: read the columns with that in mind."
        if share or name != paper.VECTORS:
            notes.append(f"{name}:{share}{paper_s if name != paper.VECTORS else ''}")
    return notes


def _vectors(*systems: System | None) -> Cell:
    names = sorted({system.vectors for system in systems if system is not None})
    return Cell(", ".join(names)) if names else MISSING
