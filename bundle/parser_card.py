"""Write the card of a parser: what it is made of, the terms of its data, and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.files import write_text
from bough.train.parser.config import Config
from bough.train.parser.evaluation import FIGURES, Scores, shown


def write_card(
    folder: Path,
    config: Config,
    columns: Mapping[str, Scores],
    sentences_a_second: float,
    best: dict[str, float],
    rounding: tuple[Scores, Scores],
    changes: list[dict[str, Any]],
) -> None:
    """Write `README.md` into the folder of a parser.

    Args:
        folder: the folder of the parser.
        config: the settings of its run.
        columns: its scores, by the name of what they were measured on.
        sentences_a_second: its speed on one core.
        best: the best epoch and its scores on SST dev.
        rounding: the scores on SST dev after the last epoch, in floats and in int8.
        changes: the settings that changed when the run was resumed.
    """
    exact, rounded = rounding
    size = sum((folder / name).stat().st_size for name in ("config.json", "vocab.txt", "model.safetensors"))
    sizes = config.size
    text = f"""# bough's built-in parser

Binary phrase trees in the shape of the Stanford Sentiment Treebank's, and Stanford Dependencies (basic, with
punctuation), of English sentences in Penn Treebank tokens.

One encoder ({sizes.layers} bidirectional LSTM layers of {sizes.hidden} units per direction) and two outputs:
a score for every span, decoded by CKY, and a score for every head, decoded by Eisner's algorithm.
Each word is one int8 row: its GloVe {config.vectors} vector mapped to {sizes.word} numbers, a learned vector of its own
and those of its affixes, folded into one table; the GloVe vectors themselves are not included.
Unknown words are represented by their affixes and shape.
{size / 1e6:.1f} MB.

## Scores

Measured by `python -m bundle parser evaluate` on the test splits, on the folded and quantised parser as it stands here.

{_table(columns)}

Text to both trees, tokenising included: {sentences_a_second:.0f} sentences per second of one core (SST test).
Epoch {best["epoch"]:.0f} of {config.epochs}, chosen on SST dev: F1 {best["brackets"]:.2f}, UAS {best["heads"]:.2f}.
Rounding to int8 moves F1 from {exact.brackets:.2f} to {rounded.brackets:.2f} and UAS from {exact.heads:.2f} to \
{rounded.heads:.2f} (SST dev, last epoch).
The reference trees of SST and SICK were made by a parser (Stanford's), not by people. GUM's are by people, in a style
of their own, and their heads are converted.

## Data and terms

| data | used for | terms |
|---|---|---|
| Stanford Sentiment Treebank, train split, with parses | both trees | to be cited: Socher et al. 2013 |
| SICK, train split, with parses | both trees | CC BY-NC-SA 3.0 |
| nine tenths of GUM's trees | both trees (heads converted), tags | annotation CC BY 4.0, texts partly CC BY-NC-SA |
| English Web Treebank sentences parsed by the Stanford PCFG parser | as GUM | text CC BY-SA 4.0 |
| GloVe {config.vectors} | word features | PDDL |{_silver(config)}

The MIT licence of bough covers its code. Because SICK and parts of GUM are non-commercial, treat these
weights as non-commercial too.

## Made by

`python -m bundle parser train --out FOLDER`, with

```
{config.json()}
```
{_resumed(changes)}"""
    write_text(folder / "README.md", text)


def _resumed(changes: list[dict[str, Any]]) -> str:
    lines = []
    for change in changes:
        settings = ", ".join(f"{key} {value}" for key, value in change.items() if key != "after")
        lines.append(f"After epoch {change['after']} the run was resumed with {settings}.")
    return "\n".join(["", *lines, ""]) if lines else ""


def _silver(config: Config) -> str:
    if not config.silver:
        return ""
    name = Path(config.silver).name
    return f"\n| `{name}` of `bough parser silver`: text with arcs on which two parsers agree | heads | the text's |"


def _table(columns: Mapping[str, Scores]) -> str:
    lines = [["", *columns], ["---"] * (1 + len(columns))]
    for key, name in FIGURES.items():
        lines.append([name, *(shown(getattr(scores, key)) for scores in columns.values())])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
