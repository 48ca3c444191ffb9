"""Claims about the rows with a parser's trees: each says whose trees it has, and the difference has an interval."""

from dataclasses import replace

import pytest

from minruns import system
from paper.document import MISSING
from paper.parser_cost import cost_line, cost_table
from paper.report import filled, markers
from paper.results import System, summary, trees_of
from paper.tables import table3


def sick(name: str, r: list[float]) -> System:
    return system(name, pearson=r, spearman=r, mse=r)


FOUND = {
    "sick-dependency": sick("sick-dependency", [0.86, 0.88]),
    "sick-dependency+trees=builtin": sick("sick-dependency+trees=builtin", [0.84, 0.86]),
    "sick-constituency+trees=builtin": sick("sick-constituency+trees=builtin", [0.8, 0.82]),
    "sst5-dependency+trees=builtin": system("sst5-dependency+trees=builtin", accuracy=[0.48, 0.5]),
}


def test_the_difference_is_the_parsers_minus_the_papers_with_welchs_interval() -> None:
    row = next(row for row in cost_table(FOUND).rows if row[1].text == "Pearson's r")
    # the standard error is .0141 with 2 degrees of freedom
    assert [cell.text for cell in row[2:]] == [
        "0.8700 (0.0141, n 2)",
        "0.8500 (0.0141, n 2)",
        "-0.0200 (-0.0808 to +0.0408)",
    ]


def test_rows_that_were_trained_on_a_parsers_trees_do_not_pass_for_the_papers() -> None:
    parsed = {**FOUND, "sick-dependency": replace(FOUND["sick-dependency"], trees="builtin")}
    row = cost_table(parsed).rows[0]
    assert row[2] == row[4] == MISSING
    row = next(row for row in table3(parsed).rows if row[0].text == "Dependency Tree-LSTM")
    assert row[-2].text == "builtin"


@pytest.mark.parametrize(
    ("recipe", "stored", "trees"),
    [
        ("sick-dependency", {}, "paper"),  # the first runs, which do not say it
        ("sick-dependency", {"trees": "stanza"}, "stanza"),
        ("sick-lstm", {}, "none"),
        ("sick-ecnu", {}, "paper"),
        ("sst5-paragraph-vec", {}, "none"),
    ],
)
def test_a_stored_run_says_whose_trees_it_read(recipe: str, stored: dict[str, str], trees: str) -> None:
    assert trees_of({"recipe": recipe, **stored}) == trees


def test_the_line_has_the_figures_with_the_built_in_parsers_trees() -> None:
    assert cost_line(FOUND) == (
        "Pearson's r 0.8500 (0.0141, n 2) on SICK (Dependency Tree-LSTM) and 0.8100 (0.0141, n 2) (Constituency "
        "Tree-LSTM), and 49.0 (1.4, n 2) percent on SST in five classes (Dependency Tree-LSTM)"
    )


def test_results_keep_whose_trees_they_are_of() -> None:
    parsed = {**FOUND, "sick-dependency": replace(FOUND["sick-dependency"], trees="builtin")}
    page = "{}{}".format(*markers("parser"))
    assert "| SICK, Dependency Tree-LSTM | Pearson's r | 0.8700" in (filled(page, summary(FOUND)) or "")
    assert "| SICK, Dependency Tree-LSTM | Pearson's r | missing" in (filled(page, summary(parsed)) or "")
