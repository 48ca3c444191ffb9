"""The model card of a fit, and lines that other cards use too."""

from collections.abc import Mapping
from typing import Any

from bough.models.config import Config
from bough.models.inputs import as_code, escaped
from bough.models.model import Model
from bough.outputs import Output


def trees_line(trees: str, parser: str) -> str:
    """Return which trees a fitted model reads."""
    unparsed = {
        "given": "given",
        "chain": "none: a chain of the words",
        "balanced": "balanced, without a parser",
    }
    return unparsed.get(trees, f"one per text, by the parser {parser}")


def metric_rows(facts: Mapping[str, Any], output: Output) -> list[list[str]]:
    """Return a row for each metric of a fit: its name, and its value on each split."""
    scores = facts["scores"]
    figures = list(scores["dev"]["figures"])
    titles = {name: output.titles.get(name, name) for name in figures}
    rows = {titles[name]: [scores[split]["figures"][name] for split in scores] for name in figures}
    if "baseline" in facts:
        baseline = facts["baseline"]
        for name in (name for name in figures if name != "loss"):
            values = [baseline["figures"][split][name] for split in scores]
            rows[f"{titles[name]} of {baseline['name']}"] = values
    for when in ("before", "after") if "calibration" in facts else ():
        errors = [facts["calibration"][split][when] for split in scores]
        rows[f"ECE {when} temperature scaling"] = errors
    return [[name, *(f"{value:.4f}" for value in values)] for name, values in rows.items()]


def fit_card(model: Model, facts: Mapping[str, Any]) -> str:
    """Return the card of a fitted model as Markdown, from the facts of the fit."""
    splits, what = list(facts["scores"]), escaped(model.output.describe())
    sizes = ", ".join(f"{size:,} {split}" for split, size in facts["examples"].items())
    files = ", ".join(map(escaped, sorted({*facts["files"].values()})))
    parsed = trees_line(model.trees, as_code(facts["parser"]))
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
    lines += [f"| {' | '.join(row)} |" for row in metric_rows(facts, model.output)]
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
