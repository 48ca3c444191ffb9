"""What came out of a fit: figures on every split, the temperature, the baseline; and the folder with it all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from bough.files import write_text
from bough.models.metrics import ClassLine, Report, class_report, correlations
from bough.models.model import Model
from bough.train.baseline import bag_of_words
from bough.train.calibration import calibration_error, cool, cooled, temperature
from bough.train.card import NAMES, fit_card
from bough.train.checkpoint import Progress
from bough.train.dataset import Gathered
from bough.train.distributed import current
from bough.train.tasks import Floats, Learnable, PairsTask
from bough.train.word_vectors import Words


@dataclass(frozen=True)
class Outcome:
    """The facts of a fit, plain values all of them, and the model if it was made just now."""

    facts: dict[str, Any]
    model: Model | None = None
    card: str = ""

    @classmethod
    def stored(cls, folder: Path, facts: dict[str, Any]) -> Outcome:
        """Of a folder that is finished."""
        card = folder / "README.md"
        return cls(facts, None, card.read_text(encoding="utf-8") if card.is_file() else "")

    def store(self, out: Path, facts: Mapping[str, Any], model: Model) -> None:
        """The model's folder and the report beside it."""
        card = fit_card(model, facts)
        object.__setattr__(self, "card", card)
        model.save(out, card=card, facts={"vectors": facts["vectors"], "scores": self.facts["scores"]})
        write_text(out / "report.html", report_page(model, facts))
        write_text(out / "metrics.jsonl", "".join(json.dumps(line) + "\n" for line in facts["history"]))


def judged(
    task: Learnable, progress: Progress, splits: Mapping[str, Gathered], words: Words, seed: int
) -> Outcome:
    """The chosen model on dev, and for the first time on test, with its temperature fitted on dev."""
    ranks, model = current(), progress.model
    facts: dict[str, Any] = {
        "vectors": words.name,
        "coverage": words.coverage,
        "epoch": progress.best_epoch,
        "epochs": progress.epoch,
        "history": progress.history,
        "scores": {},
    }
    held = [split for split in ("dev", "test") if split in splits]
    if isinstance(task, PairsTask):
        for split in held:
            examples = splits[split].examples(model)
            predicted = ranks.predict(task, model, examples)
            gold = np.array(splits[split].ratings)
            facts["scores"][split] = asdict(Report(correlations(predicted, gold), [], len(gold)))
        return Outcome(facts, model)
    predictions = {split: ranks.predict(task, model, splits[split].examples(model)) for split in held}
    gold_of = {split: _gold(splits[split]) for split in held}
    t = temperature(predictions["dev"], gold_of["dev"])
    facts |= {"temperature": t, "calibration": {}, "baseline": {}}
    for split in held:
        after: Floats = cooled(predictions[split], t)
        facts["scores"][split] = asdict(class_report(model.purpose.classes, after, gold_of[split]))
        errors = [calibration_error(p, gold_of[split]) for p in (predictions[split], after)]
        facts["calibration"][split] = {"before": errors[0], "after": errors[1]}
        train, other = splits["train"].sides[0], splits[split].sides[0]
        facts["baseline"][split] = ranks.from_first(
            lambda train=train, other=other: bag_of_words(train, other, len(model.purpose.classes))  # type: ignore[misc]
        )
    cool(model, t)
    return Outcome(facts, model)


def _gold(gathered: Gathered) -> Any:
    roots = []
    for tree in gathered.sides[0]:
        assert tree.labels is not None
        roots.append(tree.labels[tree.root])
    return np.array(roots, dtype=np.int64)


STYLE = """
body{font:15px system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
table{border-collapse:collapse;margin:.6rem 0 1.6rem}td,th{padding:.25rem .6rem;text-align:right}
th{font-weight:600}td:first-child,th:first-child{text-align:left}tr+tr{border-top:1px solid #e3e6e9}
.confusion td{min-width:2rem}svg text{font-size:11px;fill:currentColor}
@media (prefers-color-scheme:dark){body{color:#e8ebee;background:#14181d}tr+tr{border-color:#333a42}}
"""
WIDTH, HEIGHT, EDGE = 640, 220, 40


def report_page(model: Model, facts: Mapping[str, Any]) -> str:
    """The whole page."""
    scores = facts["scores"]
    parts = [_table(["figure", *scores], _figures(facts))]
    last = list(scores)[-1]
    if model.purpose.classes:
        parts += [f"<h2>Classes, {last}</h2>", _classes(scores[last]["classes"])]
        parts += [
            f"<h2>Which was taken for which, {last}</h2>",
            _confusion(model.purpose.classes, scores[last]),
        ]
    parts += ["<h2>Learning curve</h2>", _curve(facts["history"])]
    title = "A fitted model"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>{''.join(parts)}</body></html>\n"
    )


def _figures(facts: Mapping[str, Any]) -> list[list[str]]:
    scores = facts["scores"]
    rows = [
        [NAMES[name], *(f"{scores[split]['figures'][name]:.4f}" for split in scores)]
        for name in scores["dev"]["figures"]
    ]
    if "baseline" in facts:
        rows.append(["accuracy of a bag of words", *(f"{facts['baseline'][split]:.4f}" for split in scores)])
        for when in ("before", "after"):
            name = f"calibration error {when} the temperature"
            rows.append([name, *(f"{facts['calibration'][split][when]:.4f}" for split in scores)])
    return rows


def _classes(lines: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [one.name, f"{one.examples:,}", *(f"{value:.3f}" for value in (one.precision, one.recall, one.f1))]
        for one in (ClassLine(**line) for line in lines)
    ]
    return _table(["class", "examples", "precision", "recall", "F1"], rows)


def _confusion(names: Sequence[str], score: Mapping[str, Any]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    for name, counts in zip(names, score["confusion"], strict=True):
        total = max(sum(counts), 1)
        cells = "".join(
            f'<td style="background:rgba(30,90,160,{0.75 * count / total:.2f})">{count or ""}</td>'
            for count in counts
        )
        rows.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    return f'<table class="confusion"><tr><th>is \\ said</th>{head}</tr>{"".join(rows)}</table>'


def _curve(history: Sequence[Mapping[str, Any]]) -> str:
    series = {
        "training loss": "loss",
        "dev loss": "dev_loss",
        "dev accuracy": "dev_accuracy",
        "dev r": "dev_pearson",
    }
    drawn = []
    for (name, key), colour in zip(series.items(), ("#9aa3ad", "#b4500a", "#1e5aa0", "#1e5aa0"), strict=True):
        values = [float(line[key]) for line in history if key in line]
        if not values:
            continue
        top = max(*values, 1e-9) if "loss" in key else 1.0
        step = (WIDTH - 2 * EDGE) / max(len(values) - 1, 1)
        points = " ".join(
            f"{EDGE + place * step:.1f},{HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * value / top:.1f}"
            for place, value in enumerate(values)
        )
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        label = f"{name} {values[-1]:.3f}"
        drawn.append(
            f'<text x="{EDGE + 150 * (len(drawn) // 2)}" y="16" style="fill:{colour}">{label}</text>'
        )
    axis = f'<path d="M{EDGE} {EDGE}V{HEIGHT - EDGE}H{WIDTH - EDGE}" fill="none" stroke="#9aa3ad"/>'
    epochs = f'<text x="{WIDTH - EDGE}" y="{HEIGHT - 12}" text-anchor="end">epoch {len(history)}</text>'
    head = f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="learning curve">'
    return f"{head}{axis}{''.join(drawn)}{epochs}</svg>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"
