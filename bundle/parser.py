"""Make and measure the built-in parser: from the data folder to a folder with the best epoch on dev and its card."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from bough.data import find_data
from bough.data.paths import require
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.config import Config
from bough.train.parser.evaluation import Scores, score, speed
from bough.train.parser.learner import build_learner
from bough.train.parser.run import CHECKPOINT, Run, fit
from bundle import treebanks
from bundle.parser_card import write_card


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
        """The scores by the name of what they were measured on."""
        found = {f"SST {self.split}": self.sst, f"SICK {self.split}, unseen in training": self.sick_unseen}
        return found | ({f"GUM, held out for {self.split}": self.gum_unseen} if self.gum_unseen else {})

    def as_dict(self) -> dict[str, object]:
        """Return plain values, for JSON."""
        return asdict(self)


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
        config: sizes, data weights and optimiser.
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
    write_card(folder, config, report.columns, report.sentences_a_second, run.best, rounding, run.changes)
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
