"""The model card of a fit, and lines that other cards use too."""

from collections.abc import Mapping
from typing import Any

from bough.models.config import Config
from bough.models.inputs import as_code, escaped
from bough.models.model import Model
from bough.models.output_spec import OutputSpec

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
NAMES = {**FIGURES, "accuracy": "accuracy", "f1": "macro F1", "loss": "loss"}
NAMES |= {
    "mae": "mean absolute error",
    "rmse": "root mean squared error",
    "r2": "R^2",
    "q_error_median": "q-error, median",
    "q_error_p90": "q-error, 90th percentile",
    "q_error_p99": "q-error, 99th percentile",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "exact": "all labels right",
}


def trees_line(spec: OutputSpec, parser: str) -> str:
    """Return which trees a fitted model reads."""
    unparsed = {
        "given": "given",
        "chain": "none: a chain of the words",
        "balanced": "balanced, without a parser",
    }
    return unparsed.get(spec.trees, f"one per text, by the parser {parser}")


def metric_rows(facts: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each metric of a fit: its name, and its value on each split."""
    scores = facts["scores"]
    figures = list(scores["dev"]["figures"])
    rows = {NAMES[name]: [scores[split]["figures"][name] for split in scores] for name in figures}
    if "baseline" in facts:
        baseline = facts["baseline"]
        for name in (name for name in figures if name != "loss"):
            values = [baseline["figures"][split][name] for split in scores]
            rows[f"{NAMES[name]} of {baseline['name']}"] = values
    for when in ("before", "after") if "calibration" in facts else ():
        errors = [facts["calibration"][split][when] for split in scores]
        rows[f"ECE {when} temperature scaling"] = errors
    return [[name, *(f"{value:.4f}" for value in values)] for name, values in rows.items()]


def fit_card(model: Model, facts: Mapping[str, Any]) -> str:
    """Return the card of a fitted model as Markdown, from the facts of the fit."""
    spec, splits = model.output_spec, list(facts["scores"])
    if spec.numbers:
        what = f"numbers: {', '.join(map(escaped, spec.numbers))}, scale {spec.scale}"
    elif spec.classes:
        names = ", ".join(map(escaped, spec.classes))
        what = f"{len(spec.classes)} {'labels' if spec.thresholds else 'classes'}: {names}"
    else:
        what = f"ratings from {spec.ratings[0]:g} to {spec.ratings[1]:g}"
    sizes = ", ".join(f"{size:,} {split}" for split, size in facts["examples"].items())
    files = ", ".join(map(escaped, sorted({*facts["files"].values()})))
    parsed = trees_line(spec, as_code(facts["parser"]))
    lines = [f"# {what}", "", "Made by `bough fit`; `bough.load(FOLDER)` reads it.", ""]
    lines += [f"- Examples: {sizes} ({files})", f"- Trees: {parsed}"]
    if model.inputs is None or model.inputs.spec.tokens:
        lines += [
            words_line(
                model.config, escaped(facts["vectors"]), escaped(facts["coverage"]), "training examples"
            )
        ]
    lines += [f"- Best epoch: {facts['epoch']} of {facts['epochs']}, chosen on dev; seed {facts['seed']}."]
    if "temperature" in facts:
        lines += [f"- The logits are divided by a temperature of {facts['temperature']:.3f}, fitted on dev."]
    lines += [f"- {', '.join(f'{name} {version}' for name, version in facts['versions'].items())}", ""]
    if model.inputs is not None:
        lines += ["## Inputs", "", *model.inputs.spec.lines(), "", "## Results", ""]
    lines += [f"| metric | {' | '.join(splits)} |", f"|---|{'---|' * len(splits)}"]
    lines += [f"| {' | '.join(row)} |" for row in metric_rows(facts)]
    settings = "\n".join(f"{key} = {value!r}" for key, value in facts["config"].items() if key != "about")
    return "\n".join([*lines, "", "```", settings, "```", ""])


def words_line(config: Config, name: str, coverage: str, examples: str) -> str:
    """Return a line about a model's word vectors and their coverage of `examples`, or its encoder."""
    if not config.encoder:
        share = f" ({coverage} of the {examples})" if coverage else ""
        # without pretrained vectors, both are "random"
        kind = "" if config.embeddings == name else f", {config.embeddings}"
        return f"- Word vectors: {name}{kind}{share}"
    freeze = config.encoder_freeze
    if freeze == 0:
        return f"- Encoder: {name}, all of it tuned"
    kept = f"all but the top {-freeze}" if freeze < 0 else f"the first {freeze}"
    return f"- Encoder: {name}, {kept} of its layers as they were"
