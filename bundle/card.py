"""Write the card of a bundled model, and tables into the sections of a card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.train.card import FIGURES
from bundle.config import BundleConfig, shares
from paper.card import DATA

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
ABOUT = {
    "sentiment": "The sentiment of every phrase of an English sentence, from very negative to very positive.",
    "relatedness": "How related two English sentences are, from 1 to 5.",
    "relatedness-sick": "How related two English sentences are, from 1 to 5, as the paper's system says.",
}
STEPS = {
    "trained": "as trained, on the data set's trees",
    "folded": "folded and quantised, same words",
    "shipped": "as shipped, unknown words by their parts",
    "text": "as shipped, on plain text parsed by `{parser}`",
}
ROWS = {
    False: "The vectors themselves are not included: each word has one row, the first layer's map of the vector, as "
    "coordinates on its {columns} leading axes, in int8 with one scale per row.",
    True: "Each word has one row: its vector, as coordinates on the {columns} leading axes of all of them, in int8 "
    "with one scale per row.",
}
OUTSIDE = {
    False: "by case, digits, the parts of a compound and affixes",
    True: "by case, digits, the parts of a compound, affixes and slips of the pen; emoji, emoticons, hashtags and "
    "addresses by words for them",
}
MIXED = {
    "sentiment": (
        "It learned from film reviews, comments on the web, reviews of goods and short everyday sayings, and was "
        "measured on such text only: not on news, tweets, medical or legal text. It does not understand irony."
    ),
    "relatedness": (
        "It learned from captions, news and forums, least from forums, on which it does worst. What it knows of words "
        "is what their vectors say, which hardly tell opposites from synonyms. Of the STS benchmark's train split, "
        "pairs with a sentence of SICK's dev or test split were left out, and a tenth of the others helped to choose "
        "the epoch and the settings; its dev split chose nothing."
    ),
}
LIMITS = {
    "sentiment": "It learned from sentences of film reviews: it does less well on other kinds of text, and "
    "does not understand irony.",
    "relatedness-sick": "It learned from short descriptions of pictures and videos: it does less well on news or "
    "conversation, and underrates the effect of a negation or a changed number.",
}


def model_card(config: BundleConfig, facts: Mapping[str, Any], origin: Mapping[str, Any]) -> str:
    """Return the card in Markdown, from what was measured when the model was exported."""
    name, scores = facts["name"], facts["scores"]
    figures = list(scores["test"]["trained"])
    versions = ", ".join(f"{what} {version}" for what, version in origin.get("versions", {}).items())
    vectors = "" if config.vectors == "auto" else f" --vectors {config.vectors}"
    if not origin:
        trained = "a run of `python -m paper train`"
    elif config.mix:
        trained = f"`python -m bundle {origin['recipe']} --out FOLDER --seed {origin['seed']}`"
    else:
        trained = f"`python -m paper train {origin['recipe']} --seed {origin['seed']}{vectors}`"
    beside = [BESIDE.get(source, source) for source in shares(config.mix)]
    settings = "\n".join(f"{key} = {value!r}" for key, value in config.as_dict().items() if key != "about")
    lines = [
        f"# {name}",
        "",
        ABOUT[name],
        f"{config.about or config.layer}; used by `bough.load({name!r})` and the command `bough`.",
        "",
        f"- Trained by {trained}{f' ({versions})' if versions else ''}, made by `python -m bundle export`, "
        f"{facts['made_by']}.",
        f"- Data: {'; '.join([DATA[config.task], *beside])}.",
        f"- Words: {facts['words']:,}, from the training data and {facts['vectors']} (GloVe: PDDL). "
        + ROWS[config.pair_features].format(columns=facts["columns"]),
        f"- Unknown words: looked up {OUTSIDE[config.oov == 'written']}, else treated as unknown.",
        f"- {MIXED[name] if config.mix else LIMITS.get(name, LIMITS['relatedness-sick'])}",
        "- The MIT licence of bough covers its code; the terms of the data are above.",
        "",
        "## Scores",
        "",
        f"| | {' | '.join(f'{FIGURES[f]}: dev | test' for f in figures)} |",
        f"|---|{'---|---|' * len(figures)}",
    ]
    for step, what in STEPS.items():
        cells = [f"{scores[split][step][f]:.4f}" for f in figures for split in ("dev", "test")]
        lines.append(f"| {what.format(parser=facts['parser'])} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "## Settings", "", "```", settings, "```", ""])


def markdown_table(title: str, rows: Mapping[str, Mapping[str, float]], form: str) -> str:
    """Return a Markdown table: a row per system, a column per metric, formatted by `form`, such as `.3f`."""
    columns = list(next(iter(rows.values())))
    lines = [f"| {title} | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    lines += [
        f"| {name} | {' | '.join(f'{row[column]:{form}}' for column in columns)} |"
        for name, row in rows.items()
    ]
    return "\n".join(lines)


def replace_section(card: Path, heading: str, text: str) -> None:
    """Write the last section of a card, or replace it."""
    before = card.read_text(encoding="utf-8").split(heading)[0].rstrip()
    card.write_text(f"{before}\n\n{heading}\n\n{text}\n", encoding="utf-8")
