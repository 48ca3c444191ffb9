"""The draws of a fit for each kind of target: a tiny fit has the pinned weights, batches and losses."""

from pathlib import Path
from typing import Any

import pytest

import bough
from bough.formats import ptb
from drift import assert_pinned, traced
from small_fits import QUICK, examples

SETTINGS = {**QUICK, "hidden_size": 4, "embedding_size": 5, "dropout": 0.2}
TEXTS, LABELS = examples(24)
# texts of different lengths, so that the sizes of their trees tell batches apart
TEXTS = [" ".join([*text.split(), *["again"] * (number % 7)]) for number, text in enumerate(TEXTS)]
PAIRS = [(TEXTS[number], TEXTS[number // 2]) for number in range(len(TEXTS))]


def phrase(number: int) -> bough.Tree:
    """Return a tree of phrases with a class at each inner node."""
    text = "(0 (1 a) (0 b))"
    for word in range(1 + number % 5):
        text = f"({(number + word) % 2} ({word % 2} {'cdefg'[word]}) {text})"
    return ptb.parse(text)


def plan(number: int) -> bough.Tree:
    """Return a tree with a category and a number at each node."""
    scans: list[dict[str, Any]] = [{"type": "scan", "rows": 10.0 * k + number} for k in range(1 + number % 4)]
    nested = {"type": ("join", "sort")[number % 2], "rows": 3.0 + number, "inputs": scans}
    return bough.Tree.from_nested(nested, children="inputs", categories=("type",), numbers=("rows",))


PHRASES, PLANS = [phrase(number) for number in range(24)], [plan(number) for number in range(24)]
FITS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "classes": (TEXTS, LABELS, {"trees": "none"}),
    "classes of balanced trees": (TEXTS, LABELS, {"trees": "balanced"}),
    "classes of phrases": (PHRASES, None, {"dev": (PHRASES[:3], None)}),
    "classes of plans": (PLANS, LABELS, {}),
    "ordered classes": (TEXTS, [number % 3 for number in range(24)], {"trees": "none"}),
    "weighted classes": (
        TEXTS,
        LABELS,
        {"trees": "none", "class_weight": "balanced", "sample_weight": [1.0 + n % 3 for n in range(24)]},
    ),
    "labels": (TEXTS, [[label, "both"][: 1 + n % 2] for n, label in enumerate(LABELS)], {"trees": "none"}),
    "numbers": (TEXTS, [0.5 + len(text) for text in TEXTS], {"trees": "none"}),
    "numbers of plans": (PLANS, [1.5 * number + 1 for number in range(24)], {"scale": "log"}),
    "pairs": (PAIRS, [1 + 0.25 * (number % 17) for number in range(24)], {"trees": "none"}),
    "pair classes": (PAIRS, LABELS, {"trees": "none"}),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_draws_as_it_did(name: str, tmp_path: Path, pin: bool) -> None:
    examples, labels, options = FITS[name]
    with traced() as trace:
        quick: dict[str, Any] = {"settings": SETTINGS, "epochs": 2, "init_from": "none", "data": tmp_path}
        bough.fit(examples, labels, **quick, **options, callbacks=[trace.record_dev])
    assert_pinned(f"fit {name}", trace, pin)
