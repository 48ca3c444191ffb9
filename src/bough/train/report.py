"""The report of a fit as one web page: data, metrics, learning curve, mistakes, usage."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from bough.draw.canvas import STYLE as TREE_STYLE
from bough.draw.scored_svg import svg
from bough.models.model import Model
from bough.outputs import ClassLine, Output
from bough.pipelines import Pipeline
from bough.train.card import metric_rows, trees_line, words_line
from bough.train.dataset import TreeSet
from bough.train.tasks import Floats
from bough.version import __version__

STYLE = "\n" + (Path(__file__).parent / "report.css").read_text()
SHOWN = 5  # examples in each list
RESAMPLES = 300  # of the bootstrap


@dataclass(frozen=True)
class Evidence:
    """The held-out split that the report shows: name, examples and predictions (n, ...)."""

    split: str
    examples: TreeSet
    predicted: Floats


def report_page(
    model: Model, facts: Mapping[str, Any], evidence: Evidence, messages: Sequence[str], folder: Path
) -> str:
    """Return the page as HTML that loads nothing from elsewhere.

    `facts` are those of the card, and `messages` the warnings about the data. The commands on the page name `folder`.
    """
    output, split, scores = model.output, evidence.split, facts["scores"]
    files = " and ".join(dict.fromkeys(Path(name).name for name in facts["files"].values()))
    title = f"{output.title} of {files}"
    parts = [f"<h1>{escape(title)}</h1>", _facts(model, facts), f"<h2>How good is it? ({split})</h2>"]
    parts += [_headline(facts, evidence, output), _table(["metric", *scores], metric_rows(facts, output))]
    parts += _classes(scores[split], output.classes, split)
    if not output.classes:
        parts += [f"<h2>Predicted against true ({split})</h2>", _scatter(*_values(evidence, output), output)]
    parts += ["<h2>Learning curve</h2>", _curves(facts, output)]
    if output.exclusive:
        parts += _mistakes(model, evidence)
    elif not output.classes:
        parts += _largest_errors(evidence, output)
    if messages:
        items = "".join(f"<li>{escape(line)}</li>" for line in messages)
        parts += ["<h2>About the data</h2>", f"<ul>{items}</ul>"]
    parts += ["<h2>Use the model</h2>", _usage(folder, model)]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{TREE_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _classes(scores: Mapping[str, Any], names: Sequence[str], split: str) -> list[str]:
    """Return the table of the classes and the confusion matrix, if there are any."""
    parts, rows = [], []
    for line in (ClassLine(**line) for line in scores["classes"]):
        figures = [f"{figure:.3f}" for figure in (line.precision, line.recall, line.f1)]
        rows.append([line.name, f"{line.examples:,}", *figures])
    if rows:
        head = ["class", "examples", "precision", "recall", "F1"]
        parts += [f"<h2>Classes ({split})</h2>", _table(head, rows)]
    if scores["confusion"]:
        parts += [f"<h2>Confusion matrix ({split})</h2>", _confusion(names, scores["confusion"])]
    return parts


def _values(evidence: Evidence, output: Output) -> tuple[Floats, Floats]:
    """Return (n,) the true and the predicted values, or the first of several; or their logarithms."""
    both = evidence.examples.gold(), evidence.predicted
    gold, predicted = (np.asarray(values).reshape(len(values), -1)[:, 0] for values in both)
    return (np.log10(gold), np.log10(predicted)) if output.scale == "log" else (gold, predicted)


def _facts(model: Model, facts: Mapping[str, Any]) -> str:
    output, config = model.output, facts["config"]
    sizes = ", ".join(f"{size:,} {split}" for split, size in facts["examples"].items())
    line = words_line(model.config, facts["vectors"], facts["coverage"], "training examples")
    words, _, vectors = line.removeprefix("- ").partition(": ")
    chosen = "lowest dev loss" if config["select_by"] == "loss" else "best on dev"
    rows = {
        "Fitted": f"by bough {__version__}, seed {facts['seed']}",
        "Examples": sizes,
        "Classes": ", ".join(output.classes),
        "Trees": trees_line(model.trees, facts["parser"]),
        words: vectors,
        "Started from": f"the model {facts['init_from']!r}" if facts["init_from"] else "",
        "Layer": f"{model.config.layer}, {model.config.hidden_size} wide",
        "Best epoch": f"{facts['epoch']} of {facts['epochs']} ({chosen})",
    }
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows.items() if text)
    return f"<dl>{shown}</dl>"


def _headline(facts: Mapping[str, Any], evidence: Evidence, output: Output) -> str:
    """Return the main metric with its 95% interval, if it has one, and the baseline's."""
    figures, count = facts["scores"][evidence.split]["figures"], len(evidence.examples)
    metric = output.headline
    shown = "{:.1%}" if metric == "accuracy" else "{:.3f}"
    value = shown.format(figures[metric])
    score = f"{value} correct" if metric == "accuracy" else f"{output.titles[metric]} {value}"
    low, high = confidence_interval(metric, evidence, output)
    lines = [f"{count:,} examples."]
    if low < high:
        lines = [f"95% interval {shown.format(low)} to {shown.format(high)} ({count:,} examples)."]
    if "baseline" in facts:
        name, other = facts["baseline"]["name"], facts["baseline"]["figures"][evidence.split][metric]
        lines.append(f"The baseline, {name}, has {shown.format(other)}.")
        lower_is_better = metric in output.errors
        if low < high and (other > high if lower_is_better else other < low):
            lines.append("The model is clearly better.")
        elif low < high and (other < low if lower_is_better else other > high):
            lines.append("The model is clearly worse: use the baseline, or try other settings.")
        elif low < high:
            lines.append("It lies within the interval: these examples do not show which is better.")
    return f'<p class="score">{escape(score)}</p><p>{escape(" ".join(lines))}</p>'


def confidence_interval(metric: str, evidence: Evidence, output: Output) -> tuple[float, float]:
    """Return the 95% interval of an accuracy (Wilson's), Pearson's r (Fisher's) or another metric (bootstrap)."""
    gold, predicted = evidence.examples.gold(), evidence.predicted
    if metric == "accuracy":
        right = round(output.metrics(predicted, gold).figures["accuracy"] * len(gold))
        found: Any = stats.binomtest(right, len(gold)).proportion_ci(0.95, method="wilson")
    elif metric == "pearson":
        gold, values = _values(evidence, output)
        if len(gold) < 4 or np.ptp(gold) == 0 or np.ptp(values) == 0:
            return 0.0, 0.0
        found = stats.pearsonr(values, gold).confidence_interval(0.95)
    else:
        rng, gold = np.random.default_rng(0), np.asarray(gold)
        drawn = (rng.integers(len(gold), size=len(gold)) for _ in range(RESAMPLES))
        resampled = [output.metrics(predicted[rows], gold[rows]).figures[metric] for rows in drawn]
        low, high = np.nanquantile(resampled, [0.025, 0.975]).tolist()
        return low, high
    return float(found.low), float(found.high)


def _confusion(names: Sequence[str], confusion: Sequence[Sequence[int]]) -> str:
    """Return the confusion matrix as a table: rows are true, columns predicted classes."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = []
    for place, (name, counts) in enumerate(zip(names, confusion, strict=True)):
        total, cells = max(sum(counts), 1), ""
        for column, count in enumerate(counts):
            right = ' class="right"' if column == place else ""
            cells += f'<td{right} style="background:rgba(var(--cell),{0.6 * count / total:.2f})">{count or ""}</td>'
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    top = f'<tr><th></th><th colspan="{len(names)}">predicted</th></tr><tr><th>true</th>{head}</tr>'
    return f'<div class="scroll"><table class="confusion">{top}{"".join(rows)}</table></div>'


# ------------------------------------------------------------------------------ drawings

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 240, 48, 12, 14, 40


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return equidistant round numbers that cover a range in about `most` steps."""
    span = max(high - low, 1e-9) / most
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= span * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _axes(
    across: Sequence[float], up: Sequence[float], across_name: str, body: Sequence[str], label: str
) -> str:
    """Return an SVG with axes; the elements of `body` are drawn over them."""
    lines = []
    for value in up:
        y = _y(value, up)
        lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="var(--line)"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>')
    for value in across:
        x = _x(value, across)
        lines.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:.6g}</text>')
    lines.append(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">{across_name}</text>')
    view = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}"'
    return f"<svg {view}>{''.join(lines)}{''.join(body)}</svg>"


def _x(value: float, across: Sequence[float]) -> float:
    share = (value - across[0]) / max(across[-1] - across[0], 1e-9)
    return LEFT + 8 + (WIDTH - LEFT - RIGHT - 16) * share


def _y(value: float, up: Sequence[float]) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - up[0]) / (up[-1] - up[0])


def _curves(facts: Mapping[str, Any], output: Output) -> str:
    """Return a chart of the losses, and one of each main metric on dev."""
    history, panels = facts["history"], []
    epochs = [int(line["epoch"]) for line in history]
    step = max(1, len(epochs) // 6)
    across = [*(epoch for epoch in epochs[::step] if epochs[-1] - epoch >= step), epochs[-1]]
    x = _x(facts["epoch"], across)
    mark = f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="var(--soft)" stroke-dasharray="4 3"/>'
    keys = {"loss": {"training": "loss", "dev": "dev_loss"}}
    shown = dict.fromkeys((output.headline, output.metric, "mse"))
    keys |= {output.titles[metric]: {"dev": f"dev_{metric}"} for metric in shown if metric in output.titles}
    for title, lines in keys.items():
        series = {name: [float(one[key]) for one in history if key in one] for name, key in lines.items()}
        values = [value for found in series.values() for value in found if math.isfinite(value)]
        if not values:
            continue
        up, body, legend = ticks(0.0 if title == "loss" else min(values), max(values)), [mark], []
        for name, found in ((name, found) for name, found in series.items() if found):
            colour = "var(--blue)" if name == "dev" else "var(--orange)"
            places = ((_x(epoch, across), _y(value, up)) for epoch, value in zip(epochs, found, strict=True))
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            body.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
            legend.append(f'<span style="color:{colour}">{name}</span>')
        drawing = _axes(across, up, "epoch", body, f"{title} by epoch")
        title = escape(title[0].upper() + title[1:])
        caption = f"{title}: {', '.join(legend)}; the dashed line is the chosen epoch, {facts['epoch']}"
        panels.append(f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>")
    return f'<div class="panels">{"".join(panels)}</div>'


def _scatter(gold: Floats, predicted: Floats, output: Output) -> str:
    both = ticks(float(min(gold.min(), predicted.min())), float(max(gold.max(), predicted.max())))
    ends = [f"{_x(value, both):.1f} {_y(value, both):.1f}" for value in (both[0], both[-1])]
    body = [f'<path d="M{"L".join(ends)}" stroke="var(--soft)" stroke-dasharray="4 3"/>']
    for true, value in list(zip(gold.tolist(), predicted.tolist(), strict=True))[:2000]:
        place = f'cx="{_x(true, both):.1f}" cy="{_y(value, both):.1f}"'
        body.append(f'<circle {place} r="2.5" fill="var(--blue)" fill-opacity=".5"/>')
    drawing = _axes(both, both, "true", body, "predicted against true values")
    axes = " Both axes are logarithms to base 10." if output.scale == "log" else ""
    return f"<figure>{drawing}<figcaption>Up: predicted.{axes} On the dashed line both are equal.</figcaption></figure>"


def _mistakes(model: Model, evidence: Evidence) -> list[str]:
    """Return the most confident mistakes with their trees, and the least certain predictions."""
    output, sides = model.output, evidence.examples.sides
    texts = [" / ".join(map(_text, trees)) for trees in zip(*sides, strict=True)]
    predicted = evidence.predicted
    gold: list[str] = output.decide_targets(evidence.examples.gold())
    chosen: list[str] = output.decide(predicted)
    sure = predicted.max(axis=1)
    wrong = [i for i in np.argsort(-sure, kind="stable").tolist() if chosen[i] != gold[i]][:SHOWN]
    pipeline = Pipeline(model) if len(sides) == 1 else None  # the classes of pairs are not those of phrases
    parts = [f"<h2>Most confident mistakes ({evidence.split})</h2>"]
    if not wrong:
        parts.append("<p>There are none.</p>")
    for place, i in enumerate(wrong):
        words = f"“{escape(texts[i])}” is <b>{escape(gold[i])}</b>"
        summary = f"{words}, predicted <b>{escape(chosen[i])}</b> ({sure[i]:.0%})"
        drawing = svg(pipeline(sides[0][i]), style=False, widest=360) if pipeline else ""
        opened = " open" if place == 0 else ""
        parts.append(f"<details{opened}><summary>{summary}</summary>{drawing}</details>")
    rows = [
        [texts[i], gold[i], f"{chosen[i]} ({sure[i]:.0%})"]
        for i in np.argsort(sure, kind="stable").tolist()[:SHOWN]
    ]
    least = f"<h2>Least certain predictions ({evidence.split})</h2>"
    return [*parts, least, _table(["text", "true", "predicted"], rows)]


def _largest_errors(evidence: Evidence, output: Output) -> list[str]:
    (gold, predicted), rows = _values(evidence, output), []
    for i in np.argsort(-np.abs(predicted - gold), kind="stable").tolist()[: 2 * SHOWN]:
        texts = " / ".join(_text(side[i]) for side in evidence.examples.sides)
        true, value = (10**x if output.scale == "log" else x for x in (float(gold[i]), float(predicted[i])))
        rows.append([texts, f"{true:.4g}", f"{value:.4g}"])
    return [f"<h2>Largest errors ({evidence.split})</h2>", _table(["text", "true", "predicted"], rows)]


def _text(tree: Any) -> str:
    words = [str(tree.tokens[node]) for node in tree.words.tolist() if tree.tokens and tree.tokens[node]]
    text = " ".join(words)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _usage(folder: Path, model: Model) -> str:
    name, given = str(folder), model.trees == "given"
    item, file = ("tree", "new.jsonl") if given else ('"a text"', "new.csv")
    if model.output.pairs:
        item = f"{item}, " + ("other" if given else '"another"')
    commands = f"bough score {file} --model {name} --out scores.jsonl\n"
    commands += f"bough evaluate {name} {file.replace('new', 'labelled')}\nbough serve --model {name}"
    code = f'import bough\n\nmine = bough.load("{name}")\nmine({item}).{model.output.result}'
    return f"<pre>{escape(commands)}</pre><pre>{escape(code)}</pre>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{top}</tr>{body}</table></div>'
