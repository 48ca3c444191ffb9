"""The card of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bough.models.config import Config
from bough.models.model import Model

FIGURES = {
    "accuracy": "accuracy, five classes",
    "binary": "accuracy, negative or positive",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "mse": "mean squared error",
    "beside_pearson": "Pearson's r beside SICK",
    "captions_pearson": "Pearson's r, captions",
    "news_pearson": "Pearson's r, news",
    "forums_pearson": "Pearson's r, forums",
    "loss": "loss of the sentence",
}
NAMES = {**FIGURES, "accuracy": "accuracy", "f1": "mean F1 of the classes", "loss": "loss"}


def fit_card(model: Model, facts: Mapping[str, Any]) -> str:
    """Markdown, from what the fit recorded."""
    purpose, scores = model.purpose, facts["scores"]
    splits = list(scores)
    if purpose.classes:
        what = f"{len(purpose.classes)} classes: {', '.join(purpose.classes)}"
    else:
        what = f"ratings from {purpose.ratings[0]:g} to {purpose.ratings[1]:g}"
    sizes = ", ".join(f"{size:,} {split}" for split, size in facts["examples"].items())
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    rows = [
        f"| {NAMES[name]} | {' | '.join(_number(scores[split]['figures'][name]) for split in splits)} |"
        for name in scores["dev"]["figures"]
    ]
    if "baseline" in facts:
        rows.append(f"| accuracy of a bag of words | {_row(facts['baseline'], splits)} |")
        for when in ("before", "after"):
            errors = {split: facts["calibration"][split][when] for split in splits}
            rows.append(f"| expected calibration error, {when} the temperature | {_row(errors, splits)} |")
    settings = "\n".join(f"{key} = {value!r}" for key, value in facts["config"].items() if key != "about")
    lines = [
        f"# {what}",
        "",
        "Made by `bough fit`; `bough.load(FOLDER)` reads it.",
        "",
        f"- Examples: {sizes} ({', '.join(sorted({*facts['files'].values()}))})",
        f"- Trees: {purpose.trees}, by the parser `{facts['parser']}`"
        if purpose.trees != "given"
        else "- Trees: given",
        words_line(model.config, facts["vectors"], facts["coverage"], "training examples"),
        f"- The epoch, {facts['epoch']} of {facts['epochs']}, was chosen on dev; seed {facts['seed']}.",
    ]
    if "temperature" in facts:
        lines.append(
            f"- The logits are divided by a temperature of {facts['temperature']:.3f}, fitted on dev."
        )
    head = [f"| figure | {' | '.join(splits)} |", f"|---|{'---|' * len(splits)}"]
    return "\n".join([*lines, f"- {versions}", "", *head, *rows, "", "```", settings, "```", ""])


def words_line(config: Config, name: str, coverage: str, examples: str) -> str:
    """What stands for the words of a model, and how much of the `examples` the vectors cover."""
    if not config.encoder:
        share = f" ({coverage} of the {examples})" if coverage else ""
        return f"- Word vectors: {name}, {config.embeddings}{share}"
    freeze = config.encoder_freeze
    if freeze == 0:
        return f"- Encoder: {name}, all of it tuned"
    kept = f"all but the top {-freeze}" if freeze < 0 else f"the first {freeze}"
    return f"- Encoder: {name}, {kept} of its layers as they were"


def _row(values: Mapping[str, float], splits: list[str]) -> str:
    return " | ".join(_number(values[split]) for split in splits)


def _number(value: float) -> str:
    return f"{value:.4f}"
