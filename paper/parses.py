"""Whose trees a run reads: those of the paper's authors where they are, else a parser's, made from the official files.

DATA/sick/{split}/, DATA/sst/dep/{split}/      by the authors' pipeline; no archive has them
DATA/{sick,sst}/parsed/PARSER/{split}/         by a parser (`paper.prepare`)
DATA/{sick,sst}/parsed/PARSER/made.json        by what they were made, from what, and when
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from bough.data import fingerprint
from bough.data.paths import SPLITS, require
from bough.errors import DataError
from bough.files import read_json
from bough.text import BUILTIN as BUILTIN_FOLDER

Parse = Literal["constituency", "dependency"]
PARSES: tuple[Parse, ...] = ("constituency", "dependency")
AUTO = "auto"  # the setting that `choose_trees` resolves
PAPER = "paper"  # the authors' trees, and SST's phrase trees, which are published with it
NONE = "none"  # no trees: the words of the official text
BUILTIN = "builtin"
MADE = "made.json"
AUTHORS = {"sick": "sick", "sst": "sst/dep"}
# the file of each split that shows that there are trees
HEADS: dict[str, dict[Parse, str]] = {
    "sick": {"dependency": "a.parents", "constituency": "a.cparents"},
    "sst": {"dependency": "dparents.txt"},
}
OFFICIAL = {
    "sick": ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"),
    "sst": tuple(f"trees/{split}.txt" for split in SPLITS),
}
PARSER_FILES = tuple(BUILTIN_FOLDER / name for name in ("model.safetensors", "vocab.txt"))


def trees_folder(data: Path, dataset: str, trees: str) -> Path:
    """Return the folder of the authors' trees, or of those of the parser `trees`."""
    return data / AUTHORS[dataset] if trees == PAPER else data / dataset / "parsed" / trees


def choose_trees(trees: str, data: Path, dataset: str, parse: Parse) -> str:
    """Return whose trees to read: for "auto" the authors', else those of the only parser, else "builtin"."""
    name = HEADS[dataset].get(parse)
    if name is None:  # SST's phrase trees, which everyone has
        return PAPER
    if trees != AUTO:
        return trees
    if any((trees_folder(data, dataset, PAPER) / split / name).exists() for split in SPLITS):
        return PAPER
    parsers = [path.parents[1].name for path in (data / dataset / "parsed").glob(f"*/{SPLITS[0]}/{name}")]
    return parsers[0] if len(parsers) == 1 else BUILTIN


def check_trees(files: Iterable[Path], data: Path, dataset: str, trees: str) -> None:
    """Raise a DataError unless a parser's `files` are there and were made from the present data and parser."""
    require([data / dataset / name for name in OFFICIAL[dataset]], dataset)
    if trees == NONE:
        return
    folder = trees_folder(data, dataset, trees)
    option = "" if trees == BUILTIN else f" --parser {trees}"
    way = f"`python -m paper prepare {dataset}{option}` parses the sentences"
    others = sorted(path.parent.name for path in folder.parent.glob(f"*/{MADE}") if path.parent != folder)
    if others:
        way += f" (there are trees by {', '.join(others)}: --set trees={others[0]})"
    require([*files, folder / MADE], dataset, way)
    if read_json(folder / MADE).get("from") != made_from(data, dataset, trees):
        raise DataError(f"{folder}: its trees were made from other files or by another parser; {way}")


def made_from(data: Path, dataset: str, trees: str) -> dict[str, str]:
    """Return the hashes of what decides the trees: the official files, and the built-in parser if it is the one."""
    official = fingerprint([data / dataset / name for name in OFFICIAL[dataset]], data=data)
    parser = fingerprint(PARSER_FILES, data=BUILTIN_FOLDER.parent) if trees == BUILTIN else {}
    return official | parser


def deciding_files(files: Iterable[Path]) -> list[Path]:
    """Return the files with those of the built-in parser in place of its trees, which a report can do without."""
    given = list(files)
    others = [file for file in given if file.parts[-4:-2] != ("parsed", BUILTIN)]
    return others if len(others) == len(given) else [*others, *PARSER_FILES]
