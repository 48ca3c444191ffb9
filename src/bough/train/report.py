"""What came out of a fit: figures on every split, the temperature, the baseline; and the folder with it all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bough.files import write_text
from bough.models.metrics import Report, class_report, correlations
from bough.models.model import Model
from bough.train.baseline import bag_of_words
from bough.train.calibration import calibration_error, cool, cooled, temperature
from bough.train.card import fit_card
from bough.train.checkpoint import Progress
from bough.train.dataset import Gathered
from bough.train.distributed import here
from bough.train.report_page import report_page
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
    ranks, model = here(), progress.model
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
