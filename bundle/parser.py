"""Train the built-in parser on treebanks that anyone may use, and write its card."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bough.data import find_data
from bough.data.paths import require
from bough.files import write_text
from bough.text.builtin.network import Size
from bough.text.builtin.parser import BuiltinParser
from bough.train.loop import Callback
from bough.train.parser.config import Config
from bough.train.parser.evaluation import FIGURES, score, shown, speed
from bough.train.parser.examples import read_treebanks
from bough.train.parser.run import train_parser
from bundle.card import DATA, LICENSE
from bundle.treebanks import DEV, MEASURED, TRAINING, write_treebanks

DROPOUT: dict[str, Any] = {"dropout": 0.25, "recurrent_dropout": 0.1, "word_dropout": 0.12}
CONFIG = Config(epochs=12, size=Size(word=96, hidden=200), batch_tokens=600, bfloat16=True, **DROPOUT)


def make_parser(
    out: Path | str,
    data: Path | str | None = None,
    *,
    config: Config = CONFIG,
    resume: bool = False,
    check: bool = True,
    callback: Callback = lambda event: None,
) -> None:
    """Train the built-in parser into a folder, measure it on test once, and write its card.

    The treebanks go into a folder beside it, `OUT-treebanks`. `check` compares the sizes of SST and SICK with the
    published ones.
    """
    folder, vectors = Path(out), find_data(data) / "glove" / "glove.6B.300d.txt"
    require([vectors], "glove")
    files = folder.with_name(f"{folder.name}-treebanks")
    write_treebanks(data, files, check=check)
    training, dev = ([files / name for name in names] for names in (TRAINING, DEV))
    train_parser(training, dev, folder, vectors=vectors, config=config, resume=resume, callback=callback)
    parser = BuiltinParser.load(folder)
    parser.about = {"license": LICENSE, "data": DATA["parser"]}
    parser.save(folder)
    write_text(folder / "README.md", _card(parser, folder, files, config))


def _card(parser: BuiltinParser, folder: Path, files: Path, config: Config) -> str:
    sets = {title: read_treebanks([files / name for name in names]) for title, names in MEASURED.items()}
    measured = [score(parser, examples) for examples in sets.values()]
    rows = [["", *sets], ["---"] * (1 + len(sets))]
    rows += [[name, *(shown(getattr(scores, key)) for scores in measured)] for key, name in FIGURES.items()]
    test = sets["SST test"]
    history = [json.loads(line) for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines()]
    best = max(history, key=lambda line: line["dev_brackets"] + line["dev_heads"])
    kept = ("config.json", "vocab.txt", "model.safetensors")
    text = Path(__file__).with_name("parser_card.md").read_text(encoding="utf-8")
    return text.format(
        sizes=config.size,
        config=config,
        best=best,
        license=LICENSE,
        megabytes=sum((folder / name).stat().st_size for name in kept) / 1e6,
        table="\n".join(f"| {' | '.join(row)} |" for row in rows),
        phrases=speed(parser.constituency, test),
        arcs=speed(parser.dependency, test),
        data="\n".join(f"| {' | '.join(row.values())} |" for row in DATA["parser"]),
        settings=json.dumps(asdict(config), indent=2),
    )
