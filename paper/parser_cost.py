"""What the parser costs: rows with the built-in parser's trees beside those with the trees of the paper's authors."""

from paper.claims import CONFIDENCE, contrast
from paper.document import MISSING, Cell, Table
from paper.parses import BUILTIN, PAPER
from paper.plan import PARSED
from paper.results import System
from paper.tables import Systems, cell, digits_of, spread

TITLES = {
    "sick-dependency": "SICK, Dependency Tree-LSTM",
    "sick-constituency": "SICK, Constituency Tree-LSTM",
    "sst5-dependency": "SST, Dependency Tree-LSTM",
}
FIGURES = {
    "sick": (("pearson", "Pearson's r"), ("spearman", "Spearman's rho"), ("mse", "MSE")),
    "sst5": (("accuracy", "five classes, %"), ("binary", "derived binary, %")),
}


def cost_table(systems: Systems) -> Table:
    """Return each figure with both kinds of trees, and the difference with its confidence interval by Welch."""
    rows = []
    for name in PARSED:
        theirs, ours = _both(systems, name)
        for figure, title in FIGURES[name.partition("-")[0]]:
            difference = _difference(theirs, ours, figure) if theirs and ours else MISSING
            row = cell(theirs, figure), cell(ours, figure), difference
            rows.append((Cell(TITLES[name]), Cell(title), *row))
    header = ("system", "figure", "the paper's trees", "the built-in parser's", "difference")
    notes = (
        "Mean (standard deviation, number of seeds). Difference: the built-in parser's minus the paper's, "
        f"with Welch's {CONFIDENCE:.0%} confidence interval.",
    )
    return Table("What the parser costs, test", header, tuple(rows), notes)


def cost_line(systems: Systems) -> str:
    """Return the main figures with the built-in parser's trees, for a sentence."""
    dependency, constituency, sst = (_both(systems, name)[1] for name in PARSED)
    if dependency is None or constituency is None or sst is None:
        return "not run yet"
    r, phrases = spread(dependency, "pearson"), spread(constituency, "pearson")
    sick = f"Pearson's r {r} on SICK (Dependency Tree-LSTM) and {phrases} (Constituency Tree-LSTM)"
    return f"{sick}, and {spread(sst, 'accuracy')} percent on SST in five classes (Dependency Tree-LSTM)"


def _both(systems: Systems, name: str) -> tuple[System | None, System | None]:
    """Return a system with the paper's trees and with the built-in parser's."""
    theirs = systems.get(name)
    if theirs is not None and theirs.trees != PAPER:  # made where these are not
        theirs = None
    return theirs, systems.get(f"{name}+trees={BUILTIN}")


def _difference(theirs: System, ours: System, figure: str) -> Cell:
    finding = contrast([(1.0, ours.figures[figure]), (-1.0, theirs.figures[figure])])
    digits, scale = digits_of(figure)
    shown = f"{scale * finding.difference:+.{digits}f}"
    if finding.half is None:
        return Cell(f"{shown} (one seed)")
    low, high = (scale * (finding.difference + side * finding.half) for side in (-1, 1))
    return Cell(f"{shown} ({low:+.{digits}f} to {high:+.{digits}f})")
