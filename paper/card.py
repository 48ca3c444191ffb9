"""The card of a run of the paper: what it is, what it learned from, how well it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bough.train.card import FIGURES, words_line
from paper.config import PaperConfig

DATA = {
    "sick": "SICK (SemEval-2014 Task 1; CC BY-NC-SA 3.0, so the model is for non-commercial use)",
    "sst5": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it)",
    "sst2": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it), binary task",
}


def data_of(config: PaperConfig) -> str:
    """Return the data that a model learned from, with its terms."""
    return DATA[config.task]


def model_card(config: PaperConfig, facts: Mapping[str, Any], result: Mapping[str, Any], command: str) -> str:
    """Markdown, from what the run itself recorded; `command` makes the model again."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    settings = "\n".join(f"{key} = {value!r}" for key, value in config.as_dict().items() if key != "about")
    return "\n".join(
        [
            f"# {config.about or facts['recipe']}",
            "",
            f"Trained by `{command}`.",
            "",
            f"- Data: {data_of(config)}",
            words_line(config, result["vectors"], facts["coverage"], "training split"),
            f"- The epoch, {result['epoch']} of {config.epochs}, was chosen on dev; test was read once, with it.",
            f"- {versions}",
            "",
            figures_table(result),
            "",
            "```",
            settings,
            "```",
            "",
        ]
    )


def figures_table(result: Mapping[str, Any]) -> str:
    """Return a table of the metrics of a run on dev and on test."""
    derived = "accuracy" in {**result["dev"], **result["test"]}
    rows = [
        f"| {FIGURES[name]}{' (derived from the five)' if derived and name == 'binary' else ''} "
        f"| {_figure(result['dev'].get(name))} | {_figure(result['test'].get(name))} |"
        for name in FIGURES
        if name in result["dev"] or name in result["test"]
    ]
    return "\n".join(["| figure | dev | test |", "|---|---|---|", *rows])


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
