"""Train the built-in parser on treebanks that anyone may use, and write its card."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bough import Tree
from bough.data import find_data
from bough.data.paths import require
from bough.files import write_text
from bough.formats import conllu, ptb
from bough.text.builtin.network import Size
from bough.text.builtin.parser import BuiltinParser
from bough.text.stanford_dependencies import dependency_heads
from bough.train.loop import Callback
from bough.train.parser.config import Config
from bough.train.parser.evaluation import FIGURES, score, shown, speed
from bough.train.parser.examples import read_treebanks
from bough.train.parser.run import train_parser
from bundle.card import DATA, LICENSE
from paper.sick import load_sick
from paper.sst import load_sst

DROPOUT: dict[str, Any] = {"dropout": 0.25, "recurrent_dropout": 0.1, "word_dropout": 0.12}
CONFIG = Config(epochs=12, size=Size(word=96, hidden=200), batch_tokens=600, bfloat16=True, **DROPOUT)
GUM, GENRES, EWT = "treebank/gum.txt", "treebank/gum-genres.txt", "treebank/ewt-silver.txt"
HINT = "the treebanks are files of bracketed trees, one per line"
# the genres of GUM whose texts may be used for any purpose; the others are non-commercial
FREE = {
    "academic", "bio", "conversation", "court", "interview", "news", "speech", "textbook", "vlog", "voyage",
}  # fmt: skip
BLOCK = 50  # sentences of GUM in a row, about a document; every tenth block is held out
TRAINING = ("sst-train.txt", "sst-train.conllu", "ewt.txt", "gum-train.conllu")
DEV = ("sst-dev.txt", "sst-dev.conllu", "gum-dev.conllu")
MEASURED = {
    "SST test": ("sst-test.txt", "sst-test.conllu"),
    "SICK test, not in its train": ("sick-test.txt", "sick-test.conllu"),
    "GUM, held out": ("gum-dev.conllu",),
}


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

    The treebanks go into a folder beside it, `OUT-treebanks`. `check` compares the sizes of SST and
    SICK with the published ones.
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


def write_treebanks(data: Path | str | None, out: Path, *, check: bool = True) -> None:
    """Write SST, EWT, the free genres of GUM, and sentences of SICK to measure on, into a folder.

    SST and SICK are two files each, of phrases and of dependencies. GUM is dependencies only,
    converted from its phrases, which are in a style of their own. Of SICK's dev and test split
    there are the sentences that are not in its train split, each once. Without `check` the data may
    be any in the same layout.
    """
    sources = [find_data(data) / name for name in (GUM, GENRES, EWT)]
    require(sources, "treebanks", HINT)
    gum, genres, ewt = sources
    for split in ("train", "dev", "test"):
        phrases = load_sst(data, split, parse="constituency", check=check)
        arcs = load_sst(data, split, parse="dependency", check=check)
        _write_both(out / f"sst-{split}", phrases, arcs)
    seen = {arc.tokens for _, arc in _sick(data, "train", check)}
    for split in ("dev", "test"):
        both = _sick(data, split, check)
        unseen = {arc.tokens: (phrase, arc) for phrase, arc in both if arc.tokens not in seen}
        _write_both(out / f"sick-{split}", *zip(*unseen.values(), strict=True))
    write_text(out / "ewt.txt", ewt.read_text(encoding="utf-8"))
    free = [conllu.write(tree) for tree in _free_sentences(gum, genres)]
    for name, held_out in (("gum-train", False), ("gum-dev", True)):
        some = [text for i, text in enumerate(free) if (i // BLOCK % 10 == 9) == held_out]
        write_text(out / f"{name}.conllu", "".join(some))


def _sick(data: Path | str | None, split: str, check: bool) -> list[tuple[Tree, Tree]]:
    """Return both trees of every sentence of a split of SICK."""
    phrases = load_sick(data, split, parse="constituency", check=check)
    arcs = load_sick(data, split, parse="dependency", check=check)
    both = []
    for phrase, arc in zip(phrases, arcs, strict=True):
        both += [(phrase.left, arc.left), (phrase.right, arc.right)]
    return both


def _write_both(path: Path, phrases: Iterable[Tree], arcs: Iterable[Tree]) -> None:
    bare = [Tree(tree.parents, tokens=tree.tokens) for tree in phrases]
    write_text(path.with_suffix(".txt"), "".join(f"{ptb.write(tree)}\n" for tree in bare))
    heads = [Tree(tree.parents, tokens=tree.tokens, relations=tree.relations) for tree in arcs]
    write_text(path.with_suffix(".conllu"), "".join(map(conllu.write, heads)))


def _free_sentences(gum: Path, genres: Path) -> Iterator[Tree]:
    """Yield sentences of GUM's free genres: heads from the phrases, and Penn tags as labels."""
    for tree, genre in zip(ptb.iterate(gum), genres.read_text(encoding="utf-8").splitlines(), strict=True):
        leaves = tree.leaves.tolist()
        if len(leaves) > 1 and FREE.issuperset(genre.strip().split("+")):
            columns = (tree.tokens or (), tree.labels or ())
            tokens, tags = ([column[leaf] for leaf in leaves] for column in columns)
            yield Tree([head - 1 for head in dependency_heads(tree)], tokens=tokens, labels=tags)
