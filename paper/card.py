"""The model card of a run: its data, its settings and its metrics."""

from collections.abc import Mapping
from typing import Any

from bough.train.card import FIGURES, words_line
from paper.config import PaperConfig

DATA = {
    "sick": "SICK (SemEval-2014 Task 1; CC BY-NC-SA 3.0, so the model is for non-commercial use)",
    "sst5": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it)",
    "sst2": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it), binary task",
}


def model_card(config: PaperConfig, facts: Mapping[str, Any], result: Mapping[str, Any], command: str) -> str:
    """Return the card of a run as Markdown, from the facts that the run recorded. `command` trains it again."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    settings = "\n".join(f"{key} = {value!r}" for key, value in config.as_dict().items() if key != "about")
    epoch = f"- The epoch, {result['epoch']} of {config.epochs}, was chosen on dev"
    words = words_line(config, result["vectors"], facts["coverage"], "training split")
    return (
        f"# {config.about or facts['recipe']}\n\nTrained by `{command}`.\n\n- Data: {DATA[config.task]}\n{words}\n"
        f"{epoch}; test was read once, with it.\n- {versions}\n\n{figures_table(result)}\n\n```\n{settings}\n```\n"
    )


def figures_table(result: Mapping[str, Any]) -> str:
    """Return a table of the metrics of a run on dev and on test."""
    derived = "accuracy" in {**result["dev"], **result["test"]}
    rows = []
    for name, title in FIGURES.items():
        values = [result[split].get(name) for split in ("dev", "test")]
        if any(value is not None for value in values):
            title += " (derived from the five)" if derived and name == "binary" else ""
            shown = ["-" if value is None else f"{value:.4f}" for value in values]
            rows.append(f"| {title} | {' | '.join(shown)} |")
    return "\n".join(["| figure | dev | test |", "|---|---|---|", *rows])
