"""Claims about the report's block beyond the paper: it stands once there is something, and its gains are Welch's."""

from pathlib import Path

from paper.beyond import BY_LENGTH, gains_table, name_of, relatedness_table, sentiment_table
from paper.document import MISSING, Table
from paper.figures import STYLES, draw
from paper.plan import BEYOND_SEEDS, ENCODERS, runs_for
from paper.results import System

MPNET = "all-mpnet-base-v2"


def system(name: str, **figures: list[float]) -> System:
    count = len(next(iter(figures.values())))
    lengths = {"5": [0.5] * count, "10": [0.6] * count}
    return System(name, list(range(1, count + 1)), MPNET, figures, lengths, 1.0)


def sst(kind: str, *accuracies: float) -> dict[str, System]:
    name = name_of("sst5", kind, MPNET)
    binary = [0.9] * len(accuracies)
    return {name: system(name, accuracy=[*accuracies], binary=binary, phrases=binary)}


def row(table: Table, *words: str) -> list[str]:
    (found,) = [r for r in table.rows if [cell.text for cell in r][: len(words)] == [*words]]
    return [cell.text for cell in found]


def test_every_row_of_the_tables_is_planned_and_every_run_has_a_row() -> None:
    planned = {run.system for run in runs_for("beyond", 5)}
    assert len(runs_for("beyond", 5)) == len(planned) * BEYOND_SEEDS
    full = {
        name: system(name, accuracy=[0.5], binary=[0.5], phrases=[0.5]) for name in planned if "sst" in name
    }
    full |= {
        name: system(name, pearson=[0.5], spearman=[0.5], mse=[0.5]) for name in planned if "sick" in name
    }
    for table in (sentiment_table(full), relatedness_table(full)):
        shown = [r for r in table.rows if any(title in r[0].text for title in ENCODERS.values())]
        assert not [cell for r in shown for cell in r if cell == MISSING]
    assert not [cell for r in gains_table(full).rows for cell in r if cell == MISSING]
    assert {f"sst5-{line.system}" for line in BY_LENGTH.lines[1:]} < planned
    assert all(line.system in STYLES for line in BY_LENGTH.lines)


def test_what_was_not_run_is_missing() -> None:
    found = sst("contextual", 0.54, 0.55, 0.56)
    assert row(sentiment_table(found), "MPNet, tree")[1:] == [
        "55.0 (1.0, n 3)",
        "90.0 (0.0, n 3)",
        "90.0 (0.0, n 3)",
        "missing",
    ]
    assert (
        row(gains_table(found), "MPNet: tree over no tree, the mean of the words", "fine-grained")[2]
        == "missing"
    )


def test_a_gain_has_the_interval_of_welch() -> None:
    from scipy import stats

    tree, mean = [0.54, 0.55, 0.57], [0.53, 0.53, 0.54]
    found = {**sst("contextual", *tree), **sst("contextual-mean", *mean)}
    gain, interval = row(
        gains_table(found), "MPNet: tree over no tree, the mean of the words", "fine-grained"
    )[2:]
    expected = stats.ttest_ind(tree, mean, equal_var=False).confidence_interval(0.95)
    assert gain == "+2.0"
    assert interval == f"{100 * expected.low:+.1f} to {100 * expected.high:+.1f}"


def test_the_curves_are_drawn(tmp_path: Path) -> None:
    figure = draw(BY_LENGTH, sst("contextual", 0.5, 0.6), tmp_path)
    assert figure is not None
    assert "MPNet, tree" in figure.svg
