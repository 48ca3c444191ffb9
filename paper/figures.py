"""Figures 3 and 4: the score against sentence length, in the paper's windows."""

from __future__ import annotations

import io
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.files import replacing, write_text
from paper import published as paper
from paper.config import PaperConfig
from paper.document import Figure

if TYPE_CHECKING:
    from paper.results import System

HALF = 2.0  # a window is [l - 2, l + 2]
# NOTE(paper): first centre and step are the figures' ticks, read off them; the last window takes all that is longer
WINDOWS_SST, WINDOWS_SICK = np.arange(5.0, 46.0, 5.0).tolist(), np.arange(4.5, 19.0, 1.0).tolist()

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; the shapes say it again.
STYLES: dict[str, tuple[str, str, str]] = {  # colour, marker, line
    "dependency": ("#0072B2", "o", "-"),
    "constituency": ("#D55E00", "s", "-"),
    "constituency-tuned": ("#D55E00", "s", "-"),
    "constituency-fixed": ("#CC79A7", "D", "-"),
    "constituency-random": ("#767676", "X", "-"),
    "lstm": ("#E69F00", "v", "--"),
    "bilstm": ("#009E73", "^", "--"),
    "lstm-2layer": ("#000000", "<", ":"),
    "bilstm-2layer": ("#56B4E9", ">", ":"),
    "dt-rnn": ("#CC79A7", "P", "-."),
    "sdt-rnn": ("#E69F00", "X", "-."),
    "mean": ("#767676", "d", "-."),
    "constituency-regularised": ("#000000", "X", "-"),
    "contextual+encoder=all-MiniLM-L6-v2": ("#0072B2", "o", "-"),
    "contextual-mean+encoder=all-MiniLM-L6-v2": ("#56B4E9", "d", "--"),
    "contextual-balanced+encoder=all-MiniLM-L6-v2": ("#009E73", "^", ":"),
    "contextual+encoder=all-mpnet-base-v2": ("#D55E00", "s", "-"),
    "contextual-mean+encoder=all-mpnet-base-v2": ("#E69F00", "v", "--"),
    "contextual-balanced+encoder=all-mpnet-base-v2": ("#CC79A7", "P", ":"),
}


@dataclass(frozen=True)
class Drawing:
    """What one of the two figures shows."""

    name: str
    prefix: str
    lines: tuple[paper.Line, ...]
    across: str
    up: str
    percent: bool
    caption: str


FIGURE3 = Drawing(
    name="figure3",
    prefix="sst5-",
    lines=paper.TABLE2,
    across="sentence length, words",
    up="accuracy, %",
    percent=True,
    caption="Figure 3. Fine-grained sentiment: test accuracy against sentence length, in windows of ±2 words, "
    "all longer sentences in the last (45).",
)
FIGURE4 = Drawing(
    name="figure4",
    prefix="sick-",
    lines=paper.TABLE3,
    across="mean length of the two sentences, words",
    up="Pearson's r",
    percent=False,
    caption="Figure 4. Relatedness: Pearson's r on test against the pair's mean length, in windows of ±2 words, "
    "all longer pairs in the last (18.5).",
)


def by_length(config: PaperConfig, data: Path, predicted: NDArray[np.float64]) -> dict[str, float]:
    """Return window centre -> accuracy (SST) or Pearson's r (SICK) of a run's test predictions."""
    examples = config.build_task(data).read("test")
    sick = config.task == "sick"
    if sick:
        lengths = np.array([(len(pair.left.words) + len(pair.right.words)) / 2 for pair in examples])
        gold, ours = np.array([pair.score for pair in examples]), predicted[:, 0]
    else:
        lengths = np.array([float(len(tree.words)) for tree in examples])
        gold = np.array([tree.labels[tree.root] for tree in examples])
        if config.task == "sst2":
            predicted = predicted.copy()
            predicted[:, 1:-1] = 0  # neutral is a class inside sentences only
        ours = predicted.argmax(axis=1)
    scores = {}
    centres = WINDOWS_SICK if sick else WINDOWS_SST
    for centre in centres:
        inside = lengths >= centre - HALF
        if centre < centres[-1]:
            inside &= lengths <= centre + HALF
        if inside.sum() > 2:
            a, b = ours[inside], gold[inside]
            if not sick:
                scores[f"{centre:g}"] = float((a == b).mean())
            else:  # as in the task's own figure, 0 where there is no correlation
                related = np.ptp(a) > 0 and np.ptp(b) > 0
                scores[f"{centre:g}"] = float(np.corrcoef(a, b)[0, 1]) if related else 0.0
    return scores


def draw(drawing: Drawing, systems: Mapping[str, System], out: Path) -> Figure | None:
    """`NAME.svg` and `NAME.png` in `out`, means over the seeds; None, and no files, if there is nothing to draw."""
    shown = [
        (line, systems[drawing.prefix + line.system])
        for line in drawing.lines
        if drawing.prefix + line.system in systems and systems[drawing.prefix + line.system].by_length
    ]
    if not shown:
        return None
    import matplotlib

    settings: dict[Any, Any] = {
        "svg.hashsalt": drawing.name,
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#555555",
        "path.simplify": False,
    }
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


def _plot(drawing: Drawing, shown: list[tuple[paper.Line, System]]) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(9.5, 5.2), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ends = []
    for line, system in shown:
        colour, marker, dashes = STYLES[line.system]
        tree = dashes == "-" and not line.system.endswith("random")
        xs = [float(length) for length in system.by_length]
        ys = [(100 if drawing.percent else 1) * statistics.fmean(v) for v in system.by_length.values()]
        axes.plot(
            xs,
            ys,
            color=colour,
            marker=marker,
            linestyle=dashes,
            linewidth=2.2 if tree else 1.3,
            markersize=6 if tree else 5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=3 if tree else 2,
        )
        title = line.title.replace("Bidirectional", "Bi.").replace("Constituency", "Const.")
        ends.append((ys[-1], xs[-1], title, colour))
    axes.set_xlabel(drawing.across)
    axes.set_ylabel(drawing.up)
    axes.set_xticks(sorted({float(length) for _, system in shown for length in system.by_length}))
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    _label(axes, ends)
    return figure


def _label(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Each line's name beside its end, moved apart where they would overlap, a thin stroke leading to it."""
    low, high = axes.get_ylim()
    left, right = axes.get_xlim()
    gap = (high - low) * 0.052
    places = _apart([y for y, *_ in sorted(ends)], gap)
    axes.set_xlim(left, right)
    for (y, x, title, colour), place in zip(sorted(ends), places, strict=True):
        axes.annotate(
            title,
            xy=(x, y),
            xytext=(right + (right - left) * 0.015, place),
            color=colour if colour not in ("#56B4E9", "#E69F00") else "#333333",
            fontsize=9,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.8,
                "shrinkA": 2,
                "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )


def _apart(places: list[float], gap: float) -> list[float]:
    """Ascending places moved as little as it takes to be `gap` apart: a crowd spreads about its own middle."""
    groups: list[list[float]] = []
    for place in places:
        group = [place]
        while groups and _middle(group, gap)[0] - _middle(groups[-1], gap)[1] < gap:
            group = groups.pop() + group
        groups.append(group)
    return [_middle(group, gap)[0] + gap * i for group in groups for i in range(len(group))]


def _middle(group: list[float], gap: float) -> tuple[float, float]:
    """The lowest and the highest place of a crowd spread about its mean."""
    half = gap * (len(group) - 1) / 2
    return statistics.fmean(group) - half, statistics.fmean(group) + half
