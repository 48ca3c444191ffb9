"""The card of a trained model: what it is, what it learned from, how well it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bough.data.extra import shares
from bough.model.config import Config

DATA = {
    "sick": "SICK (SemEval-2014 Task 1; CC BY-NC-SA 3.0, so the model is for non-commercial use)",
    "sst5": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it)",
    "sst2": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it), binary task",
    "demo": "the small sentiment treebank that comes with bough (MIT)",
}
BESIDE = {
    "goemotions": "GoEmotions (Demszky et al., 2020; Apache-2.0)",
    "titles": "titles of Amazon reviews (Blitzer et al., 2007; free for research)",
    "reviews": "first sentences of Amazon reviews (the same)",
    "sayings": "sayings that come with bough (MIT)",
    "captions": "captions of the STS benchmark (Cer et al., 2017; CC BY-SA 4.0)",
    "news": "news of the same",
    "forums": "forums of the same",
    "turns": "pairs that come with bough (MIT)",
}
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


def data_of(config: Config) -> str:
    """What a model learned from, and on which terms."""
    first = DATA["demo" if config.source == "demo" else config.task]
    return "; ".join([first, *(BESIDE.get(name, name) for name in shares(config.mix))])


def model_card(config: Config, facts: Mapping[str, Any], result: Mapping[str, Any], command: str) -> str:
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


def words_line(config: Config, name: str, coverage: str, examples: str) -> str:
    """What stands for the words of a model, and how much of the `examples` the vectors cover."""
    if not config.leaves:
        share = f" ({coverage} of the {examples})" if coverage else ""
        return f"- Word vectors: {name}, {config.embeddings}{share}"
    freeze = config.leaves_freeze
    if freeze == 0:
        return f"- Leaves: {name}, all of it tuned"
    kept = f"all but the top {-freeze}" if freeze < 0 else f"the first {freeze}"
    return f"- Leaves: {name}, {kept} of its layers as they were"


def figures_table(result: Mapping[str, Any]) -> str:
    """What a run scored on dev and on test."""
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
