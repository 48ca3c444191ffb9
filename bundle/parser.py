"""Train and measure the built-in parser, and write its card."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bough.data import find_data
from bough.data.paths import require
from bough.files import write_text
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.config import Config
from bough.train.parser.evaluation import FIGURES, Scores, score, shown, speed
from bough.train.parser.learner import build_learner
from bough.train.parser.run import CHECKPOINT, Run, fit
from bundle import treebanks


@dataclass(frozen=True)
class Report:
    """Scores on sentences of SST, SICK and, if some was held out, GUM that training has not seen; and the speed."""

    split: str
    sst: Scores
    sick_unseen: Scores
    gum_unseen: Scores | None
    sentences_a_second: float  # of one core

    @property
    def columns(self) -> dict[str, Scores]:
        """Return the scores by the name of what they were measured on."""
        found = {f"SST {self.split}": self.sst, f"SICK {self.split}, unseen in training": self.sick_unseen}
        return found | ({f"GUM, held out for {self.split}": self.gum_unseen} if self.gum_unseen else {})


def train(
    config: Config,
    data: Path | str | None,
    out: Path | str,
    *,
    resume: bool = False,
    card: bool = True,
    check: bool = True,
) -> Report | None:
    """Train a parser on SST, SICK, GUM and EWT and leave the best one in `out`.

    After each epoch the averaged weights, compressed as they are bundled, are scored on SST's dev split (brackets
    and heads) and on SICK's unseen dev sentences; `metrics.jsonl` grows by a line. The first epoch that is best on
    SST's dev split is saved.

    Args:
        config: sizes, data weights and optimizer.
        data: the data folder; see `bough.data.find_data`.
        out: the folder for the parser, `metrics.jsonl` and the checkpoint.
        resume: continue after the last finished epoch, to the same result as if never interrupted. The sizes and
            the data must be the same as before; any other setting may change, and the card lists the change.
        card: measure the saved parser on the test splits at the end, once, and write its card.
        check: compare the sizes of SST and SICK with the published ones; without it the data may be any in
            the same layout.
    """
    folder = Path(out)
    if not resume and (folder / CHECKPOINT).exists():
        raise ValueError(f"{folder} already holds a run; continue it with --resume")
    examples = treebanks.training(data, config.longest, config.silver, check=check)
    vectors = find_data(data) / "glove" / f"glove.{config.vectors}.300d.txt"
    require([vectors], "glove")
    run = Run(config, build_learner(config, vectors, examples), folder, held_out=["gum"])
    if resume:
        run.resume()
    dev = treebanks.sst(data, "dev", check=check)
    fit(run, examples, dev, {"dev_sick": treebanks.sick_unseen(data, "dev", check=check)})
    if not card:
        return None
    report = evaluate(folder, data, "test", check=check)
    rounding = (score(run.parser(rounded=False), dev), score(run.parser(), dev))
    write_card(folder, config, report, run.best, rounding, run.changes)
    return report


def evaluate(
    parser: BuiltinParser | Path | str,
    data: Path | str | None = None,
    split: str = "test",
    *,
    check: bool = True,
) -> Report:
    """Measure a parser, or the one in a folder, on a split of SST and on the unseen sentences of SICK and GUM.

    The speed is that of text to both trees of SST's sentences, tokenising included. Without `check` the data may
    be any in the layout of SST and SICK.
    """
    model = parser if isinstance(parser, BuiltinParser) else BuiltinParser.load(parser)
    examples = treebanks.sst(data, split, check=check)
    held_out = treebanks.gum_unseen(data, split) if "gum" in model.held_out else []
    return Report(
        split=split,
        sst=score(model, examples),
        sick_unseen=score(model, treebanks.sick_unseen(data, split, check=check)),
        gum_unseen=score(model, held_out) if held_out else None,
        sentences_a_second=round(speed(model, examples), 1),
    )


def write_card(
    folder: Path,
    config: Config,
    report: Report,
    best: dict[str, float],
    rounding: tuple[Scores, Scores],
    changes: list[dict[str, Any]],
) -> None:
    """Write `README.md` into the folder of a parser.

    Args:
        folder: the folder of the parser.
        config: the settings of its run.
        report: its scores and its speed.
        best: the best epoch and its scores on SST dev.
        rounding: the scores on SST dev after the last epoch, in floats and in int8.
        changes: the settings that changed when the run was resumed.
    """
    exact, rounded = rounding
    size = sum((folder / name).stat().st_size for name in ("config.json", "vocab.txt", "model.safetensors"))
    sizes = config.size
    rows = [["", *report.columns], ["---"] * (1 + len(report.columns))]
    for key, name in FIGURES.items():
        rows.append([name, *(shown(getattr(scores, key)) for scores in report.columns.values())])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    silver = ""
    if config.silver:
        name = Path(config.silver).name
        silver = (
            f"\n| `{name}` of `bough parser silver`: arcs on which two parsers agree | heads | the text's |"
        )
    resumed = ""
    for change in changes:
        settings = ", ".join(f"{key} {value}" for key, value in change.items() if key != "after")
        resumed += f"\nAfter epoch {change['after']} the run was resumed with {settings}.\n"
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

{table}

Text to both trees, tokenising included: {report.sentences_a_second:.0f} sentences per second of one core (SST test).
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
| GloVe {config.vectors} | word features | PDDL |{silver}

The MIT licence of bough covers its code. Because SICK and parts of GUM are non-commercial, treat these
weights as non-commercial too.

## Made by

`python -m bundle parser train --out FOLDER`, with

```
{config.json()}
```
{resumed}"""
    write_text(folder / "README.md", text)
