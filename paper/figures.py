"""Figures 3 and 4: the score against sentence length, in windows of lengths."""

from __future__ import annotations

import io
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.files import replacing, write_text
from paper import published as paper
from paper.config import PaperConfig
from paper.document import Figure
from paper.tasks import sentiment_classes

if TYPE_CHECKING:
    from paper.results import System

HALF = 2.0  # a window is [l - 2, l + 2]
# NOTE(paper): the first centre and the step are read off the ticks of the figures; the last window has all longer ones
WINDOWS_SST, WINDOWS_SICK = np.arange(5.0, 46.0, 5.0).tolist(), np.arange(4.5, 19.0, 1.0).tolist()

EDGE: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.6}  # around a marker
STYLES = {system: tuple(style) for system, style in paper.read_toml("figures.toml").items()}


class Drawing(NamedTuple):
    """A figure's name, lines (rows of a table, with recipes that start with `prefix`) and caption."""

    name: str
    prefix: str
    lines: tuple[paper.Row, ...]
    caption: str


FIGURE3 = Drawing(
    "figure3",
    "sst5-",
    paper.TABLE2,
    "Figure 3. Fine-grained sentiment: test accuracy against sentence length, in windows of ±2 words, "
    "all longer sentences in the last (45).",
)
FIGURE4 = Drawing(
    "figure4",
    "sick-",
    paper.TABLE3,
    "Figure 4. Relatedness: Pearson's r on test against the pair's mean length, in windows of ±2 words, "
    "all longer pairs in the last (18.5).",
)


def by_length(config: PaperConfig, data: Path, predicted: NDArray[np.float64]) -> dict[str, float]:
    """Return the accuracy (SST) or Pearson's r (SICK) of predictions by the centre of a window."""
    examples = config.build_task(data).read("test")
    sick = config.task == "sick"
    if sick:
        lengths = np.array([(len(pair.left.words) + len(pair.right.words)) / 2 for pair in examples])
        gold = np.array([pair.score for pair in examples])
        ours: NDArray[Any] = predicted[:, 0]
    else:
        lengths = np.array([float(len(tree.words)) for tree in examples])
        gold = np.array([tree.labels[tree.root] for tree in examples])
        ours = sentiment_classes(predicted, config)
    scores = {}
    centres = WINDOWS_SICK if sick else WINDOWS_SST
    for centre in centres:
        inside = lengths >= centre - HALF
        if centre < centres[-1]:
            inside &= lengths <= centre + HALF
        if inside.sum() > 2:
            a, b = ours[inside], gold[inside]
            score = (a == b).mean()
            if sick:  # 0 if one of them is constant, as in the metrics of the task
                score = np.corrcoef(a, b)[0, 1] if np.ptp(a) > 0 and np.ptp(b) > 0 else 0.0
            scores[f"{centre:g}"] = float(score)
    return scores


def draw(drawing: Drawing, systems: Mapping[str, System], out: Path) -> Figure | None:
    """Draw the means over the seeds as `NAME.svg` and `NAME.png`. Return None for no results."""
    found = [(line, systems.get(drawing.prefix + line.system)) for line in drawing.lines]
    shown = [(line, system) for line, system in found if system and system.by_length]
    if not shown:
        return None
    import matplotlib

    settings: dict[Any, Any] = {"svg.hashsalt": drawing.name, "path.simplify": False}
    settings |= {"font.family": "DejaVu Sans", "font.size": 10, "axes.edgecolor": "#555555"}
    settings |= {"axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(settings), replacing(out / f"{drawing.name}.png") as png:
        canvas, text = _plot(drawing, shown), io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        canvas.savefig(png, format="png", dpi=160, metadata={"Software": None})
    svg = text.getvalue()
    write_text(out / f"{drawing.name}.svg", svg)
    counts = sorted({len(system.seeds) for _, system in shown})
    vectors = sorted({system.vectors for _, system in shown if system.vectors != "random"})
    seeds = f"Mean over {' or '.join(map(str, counts))} seed{'s' if counts != [1] else ''}"
    return Figure(drawing.name, f"{drawing.caption} {seeds}, {', '.join(vectors) or 'random vectors'}.", svg)


def _plot(drawing: Drawing, shown: list[tuple[paper.Row, System]]) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(9.5, 5.2), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    sick = drawing.prefix == "sick-"
    # the lines in the order of their ends, which is then that of the legend
    for line, system in sorted(shown, key=lambda each: -statistics.fmean([*each[1].by_length.values()][-1])):
        colour, marker, dashes = STYLES[line.system]
        tree = dashes == "-" and not line.system.endswith("random")
        xs = [float(length) for length in system.by_length]
        ys = [(1 if sick else 100) * statistics.fmean(v) for v in system.by_length.values()]
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": dashes}
        style |= {"linewidth": 2.2, "markersize": 6} if tree else {"linewidth": 1.3, "markersize": 5}
        title = line.title.replace("Bidirectional", "Bi.").replace("Constituency", "Const.")
        axes.plot(xs, ys, label=title, zorder=3 if tree else 2, **style, **EDGE)
    axes.set_xlabel("mean length of the two sentences, words" if sick else "sentence length, words")
    axes.set_ylabel("Pearson's r" if sick else "accuracy, %")
    axes.set_xticks(sorted({float(length) for _, system in shown for length in system.by_length}))
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    return figure
