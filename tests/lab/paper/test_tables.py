"""Claims about the tables: Table 1 is the paper's to the last unit, verdicts follow its sd, nothing is made up."""

import re

import pytest
from scipy import stats

from minruns import system
from paper import published as paper
from paper.document import MISSING, Cell, Table, as_html, block_as_markdown
from paper.plan import OURS, TOGETHER
from paper.report import in_short
from paper.tables import FIVE_SEEDS, spread, table1, table2, table3, verdict


def column(table: Table, title: str, which: int) -> Cell:
    return next(row[which] for row in table.rows if row[0].text == title and len(row) > 1)


def test_table_1_equals_the_papers_exactly() -> None:
    for row in table1().rows:
        ours, theirs = row[1::2], row[2::2]
        assert [cell.text for cell in ours] == [cell.text for cell in theirs]
        assert {cell.verdict for cell in ours} == {"equal"}
    assert column(table1(), "Constituency Tree", 3).text == "205,190"


@pytest.mark.parametrize(
    ("ours", "word", "tone"),
    [
        (48.4, "within", "within"),
        (48.8, "within", "within"),
        (48.0, "within", "within"),
        (48.81, "above", "better"),
        (47.9, "below", "worse"),
    ],
)
def test_one_sd_of_the_papers_decides(ours: float, word: str, tone: str) -> None:
    assert verdict(ours, paper.Published(48.4, 0.4)) == (word, tone)


@pytest.mark.parametrize(
    ("ours", "word", "tone"),
    [
        (0.2494, "within", "within"),
        (0.20, "below, better", "better"),
        (0.30, "above, worse", "worse"),
    ],
)
def test_of_an_error_less_is_better(ours: float, word: str, tone: str) -> None:
    assert verdict(ours, paper.Published(0.2532, 0.0052), lower_is_better=True) == (word, tone)


def test_a_greater_error_is_worse_in_table_3() -> None:
    worse = system("sick-dependency", pearson=[0.9, 0.9], spearman=[0.9, 0.9], mse=[0.4, 0.4])
    verdicts = [column(table3({"sick-dependency": worse}), "Dependency Tree-LSTM", i).tone for i in (1, 3, 5)]
    assert verdicts == ["better", "better", "worse"]


def test_mean_sd_and_number_of_seeds_stand_together() -> None:
    assert spread(system("s", accuracy=[0.47, 0.49]), "accuracy") == "48.0 (1.4, n 2)"
    assert spread(system("s", accuracy=[0.47]), "accuracy") == "47.0 (n 1)"


def test_what_was_not_run_is_missing_and_never_filled_in() -> None:
    ours = len(OURS) + len(TOGETHER)
    for table, rows in ((table2({}), len(paper.TABLE2) + ours), (table3({}), len(paper.TABLE3))):
        mine = [row for row in table.rows if len(row) > 1 and row[0].tone != "cited"]
        assert len(mine) == rows
        assert all(row[1] == MISSING and row[-1] == MISSING for row in mine)


def test_table_2_has_both_tasks_and_the_derived_binary_apart() -> None:
    found = {
        "sst5-dependency": system("sst5-dependency", accuracy=[0.484, 0.486], binary=[0.80, 0.82]),
        "sst2-dependency": system("sst2-dependency", binary=[0.90, 0.92]),
    }
    table = table2(found)
    texts = [column(table, "Dependency Tree-LSTM", i).text for i in range(1, 8)]
    assert texts == [
        "48.5 (0.1, n 2)",
        "48.4 (0.4)",
        "91.0 (1.4, n 2)",
        "85.7 (0.4)",
        "81.0 (1.4, n 2)",
        "glove.6B.300d",
        "the paper's",
    ]
    assert column(table, "Dependency Tree-LSTM", 3).verdict == "above"
    assert any("glove.840B.300d" in note and "glove.6B.300d" in note for note in table.notes)


def test_cited_systems_are_marked_and_ours_stand_beside_them_once_they_are_run() -> None:
    for table, count in ((table2({}), 8), (table3({}), 4)):
        cited = [row for row in table.rows if any(cell.verdict == "cited" for cell in row)]
        assert len(cited) == count
        assert all(row[1] == MISSING for row in cited)
    found = {
        "sst5-rntn": system("sst5-rntn", "random", accuracy=[0.44, 0.46], binary=[0.80, 0.82]),
        "sst2-rntn": system("sst2-rntn", "random", binary=[0.85, 0.85]),
        "sst5-drnn": system("sst5-drnn", accuracy=[0.48, 0.48], binary=[0.86, 0.86]),
        "sick-ecnu": system("sick-ecnu", pearson=[0.84, 0.86], spearman=[0.7, 0.7], mse=[0.3, 0.3]),
    }
    table = table2(found)
    tensor = [column(table, "RNTN (Socher et al., 2013)", i).text for i in range(1, 7)]
    assert tensor == ["45.0 (1.4, n 2)", "45.7", "85.0 (0.0, n 2)", "85.4", "81.0 (1.4, n 2)", "random"]
    deep = column(table, "DRNN (Irsoy and Cardie, 2014)", 3)
    assert (deep.text, deep.verdict) == ("86.0 (0.0, n 2)", "derived")
    assert column(table3(found), "ECNU (Zhao et al., 2014)", 1).text == "0.8500 (0.0141, n 2)"
    assert column(table3(found), "ECNU (Zhao et al., 2014)", 4).text == "-"  # the paper quotes none


def test_what_has_no_sd_of_the_papers_beside_it_is_not_counted() -> None:
    found = {
        "sst5-dependency": system("sst5-dependency", accuracy=[0.484, 0.486], binary=[0.80, 0.82]),
        "sst5-drnn": system("sst5-drnn", accuracy=[0.49, 0.49], binary=[0.86, 0.86]),
        f"sst5-{next(iter(OURS))}": system(f"sst5-{next(iter(OURS))}", accuracy=[0.51, 0.51]),
    }
    (said,) = in_short(table2(found))
    assert said.endswith(
        "of 1 figures, within one of the paper's standard deviations: 1, better: 0, worse: 0."
    )


def test_every_rebuilt_system_has_a_note_of_its_departures() -> None:
    for table, cited in ((table2({}), paper.TABLE2_CITED), (table3({}), paper.TABLE3_CITED)):
        for row in cited:
            title = row.title.partition(" (")[0]
            assert any(note.startswith(f"{title}, rebuilt: ") for note in table.notes), row.title


def test_our_own_row_is_marked_as_ours() -> None:
    row = next(row for row in table2({}).rows if row[0].tone == "own")
    assert "(ours)" in row[0].text
    assert row[2].text == row[4].text == "-"


def test_both_ways_of_writing_say_the_same() -> None:
    table = Table("T", ("a", "b"), ((Cell("group"),), (Cell("x < y | z"), Cell("1.0", "within", "within"))))
    written = block_as_markdown(table)
    assert "| x < y \\| z | 1.0, within |" in written
    assert "| *group* |  |" in written
    page = as_html("Title", written, [])
    assert "<td>x &lt; y | z</td>" in page
    assert "<td>1.0, within</td>" in page


def test_the_shares_of_the_vectors_stand_below_the_table() -> None:
    known = "98.9% of 163,563 tokens (90.5% exact, 4.2% by the lower-case form, 4.2% estimated)"
    name = "glove.840B.300d.completed"
    found = {
        "sst5-lstm": system("sst5-lstm", vectors=name, coverage=known, accuracy=[0.5], binary=[0.8]),
        "sick-mean": system("sick-mean", vectors=paper.VECTORS, pearson=[0.8], spearman=[0.7], mse=[0.3]),
    }
    notes = table2(found).notes
    assert (
        f"{name}: {known} of the training split. The paper used {paper.VECTORS}: read the columns with that in mind."
        in notes
    )
    assert not any(note.startswith(paper.VECTORS) for note in table3(found).notes)  # its own, nothing to say


def test_what_five_seeds_can_tell_is_what_normal_noise_leaves_open() -> None:
    """Student's t for the mean, chi-squared for the standard deviation."""
    mean = stats.t.ppf(0.975, 4) / 5**0.5
    low, high = ((4 / stats.chi2.ppf(p, 4)) ** 0.5 for p in (0.975, 0.025))
    assert re.findall(r"\d\.\d", FIVE_SEEDS) == [f"{number:.1f}" for number in (mean, low, high)]
    assert all(FIVE_SEEDS in table.notes[0] for table in (table2({}), table3({})))
