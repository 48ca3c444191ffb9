"""Claims about claims: an answer is given only where the noise of the runs allows one."""

import pytest

from minruns import system
from paper.claims import LSTMS, TREES, claims_table, contrast, find, main_claim_table, term_values
from paper.plan import runs_for
from paper.published import CLAIMS

HIGH, LOW = [0.870, 0.871, 0.869], [0.850, 0.851, 0.849]
NOISY = [0.80, 0.90, 0.86]


@pytest.mark.parametrize(
    ("better", "worse", "answer"),
    [
        (HIGH, LOW, "holds"),
        (LOW, HIGH, "does not hold"),
        (NOISY, LOW, "undecided within the noise"),
        (HIGH, HIGH, "undecided within the noise"),
        (HIGH[:1], LOW, "undecided within the noise"),
    ],
)
def test_a_difference_counts_when_it_is_beyond_its_noise(
    better: list[float], worse: list[float], answer: str
) -> None:
    assert contrast([(1, better), (-1, worse)]).answer == answer


@pytest.mark.parametrize(
    ("tuned", "answer"),
    [
        (HIGH, "does not hold"),
        (LOW, "holds"),
        ([0.840, 0.841, 0.839], "holds"),
        (NOISY, "undecided within the noise"),
    ],
)
def test_no_gain_holds_only_if_a_gain_is_ruled_out(tuned: list[float], answer: str) -> None:
    assert contrast([(1, tuned), (-1, LOW)], margin=0.003).answer == answer


def test_the_standard_error_is_welchs() -> None:
    finding = contrast([(1, [1.0, 2.0, 3.0]), (-1, [0.0, 4.0])])
    assert finding.difference == 0
    assert finding.error == pytest.approx((1 / 3 + 8 / 2) ** 0.5)


def test_scipy_agrees_with_the_interval() -> None:
    from scipy import stats

    a, b = [1.0, 2.0, 3.5, 2.5], [0.5, 0.1, 1.9]
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    finding = contrast([(1, a), (-1, b)])
    assert finding.half is not None
    assert (finding.difference - finding.half, finding.difference + finding.half) == pytest.approx(
        (interval.low, interval.high)
    )


def test_a_constant_adds_no_noise() -> None:
    assert contrast([(1, HIGH)], constant=-0.8414).answer == "holds"
    assert contrast([(1, HIGH)], constant=-0.8414).difference == pytest.approx(0.0286)


def test_windows_are_averaged_for_each_seed() -> None:
    lengths = {"12.5": [0.5, 0.6], "13.5": [0.8, 0.7], "14.5": [0.6, 0.9]}
    found = {"s": system("s", by_length=lengths, pearson=[0.1, 0.2])}
    term = {"weight": 1, "system": "s", "metric": "pearson", "lengths": ["13.5", "14.5"]}
    assert term_values(term, found) == pytest.approx([0.7, 0.8])
    assert term_values({**term, "minus_rest": True}, found) == pytest.approx([0.2, 0.2])


def test_nothing_is_said_of_what_was_not_run() -> None:
    assert all(find(claim, {}) is None for claim in CLAIMS)
    assert all(row[-1].text == "missing" for row in claims_table({}).rows)


def test_each_tree_is_compared_with_each_lstm() -> None:
    found = {
        "sst5-dependency": system("sst5-dependency", accuracy=HIGH),
        "sst5-lstm": system("sst5-lstm", accuracy=LOW),
        "sst5-bilstm": system("sst5-bilstm", accuracy=NOISY),
        "sst5-lstm-2layer": system("sst5-lstm-2layer", accuracy=[0.9, 0.901, 0.899]),
        "sst5-bilstm-2layer": system("sst5-bilstm-2layer", accuracy=[0.9]),
    }
    rows = {row[0].text: row[1:] for row in main_claim_table(found).rows}
    cells = rows["SST fine-grained, points: Dependency Tree-LSTM"]
    assert [cell.verdict for cell in cells] == ["holds", "undecided", "does not hold", "one seed"]
    assert cells[0].text == "+2.00 [+1.77, +2.23]"
    assert all(cell.text == "missing" for cell in rows["SICK r: Dependency Tree-LSTM"])


def test_the_compared_systems_are_planned() -> None:
    planned = {run.system for run in runs_for("all", 5)}
    assert {f"{task}-{tree}" for _, task, _, _, tree in TREES} <= planned
    assert {f"{task}-{lstm}" for _, task, *_ in TREES for lstm in LSTMS.values()} <= planned


def test_every_claim_is_about_runs_that_are_planned() -> None:
    for part in ("claims", "all"):
        planned = {run.system for run in runs_for(part, 5)}
        assert {term["system"] for claim in CLAIMS for term in claim["terms"] if "system" in term} <= planned
