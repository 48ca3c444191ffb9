"""The paper's data, from its official places or from local copies, into one layout.

DATA/sst/trees/{train,dev,test}.txt        the Stanford Sentiment Treebank
DATA/sst/dep/{split}/                      its dependency parses (local copies only)
DATA/sick/SICK_{train,trial,test_annotated}.txt
DATA/sick/{split}/                         SICK's parses (local copies only)
DATA/glove/glove.840B.300d.txt             and others of its kind
DATA/wordnet/{index,data}.{noun,...}       WordNet 3.0, with its lists of exceptions and counts
"""

from __future__ import annotations

from pathlib import Path

from bough.data.fetch import Archive, Dataset
from bough.data.paths import SPLITS, check_count
from bough.errors import FormatError
from paper import sick, sst

SYNSETS = {"noun": 82_115, "verb": 13_767, "adj": 18_156, "adv": 3_621}
WORDS = {"noun": 117_798, "verb": 11_529, "adj": 21_479, "adv": 4_481}
WORDNET_FILES = tuple(name.format(part) for name in ("index.{}", "data.{}", "{}.exc") for part in SYNSETS)


def check_wordnet(folder: Path, *, counts: bool = True) -> None:
    """Raise an error unless `folder/wordnet` is a whole WordNet 3.0; `counts=False` takes parts of it."""
    wordnet = folder / "wordnet"
    for part in SYNSETS:
        synsets = _count(wordnet / f"data.{part}", offsets=True)
        words = _count(wordnet / f"index.{part}")
        if counts:
            check_count(wordnet / f"data.{part}", synsets, SYNSETS[part], "synsets")
            check_count(wordnet / f"index.{part}", words, WORDS[part], "words")


def _count(path: Path, *, offsets: bool = False) -> int:
    """Count the entries of a file. A synset's number is its offset in bytes, so a changed file is an error."""
    count = place = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.startswith(b"  "):  # the licence
                count += 1
                if offsets and line[:9] != b"%08d " % place:
                    raise FormatError(
                        f"a synset numbered {line[:8]!r} at byte {place}; its number is its place",
                        where=str(path),
                        line=number,
                    )
            place += len(line)
    return count


def _sick(archive: str, split: str) -> Archive:
    text, digest = sick.TEXTS[split]
    place = f"sick/{text}"
    url = f"https://alt.qcri.org/semeval2014/task1/data/uploads/{archive}"
    return Archive(url, {text: place}, digests={place: digest})


_TREES = Archive(
    "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
    {f"trees/{split}.txt": f"sst/trees/{split}.txt" for split in SPLITS},
    "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
)
_TEXTS = (
    _sick("sick_train.zip", "train"),
    _sick("sick_trial.zip", "dev"),
    _sick("sick_test_annotated.zip", "test"),
)
_DICTIONARY = Archive(
    "https://wordnetcode.princeton.edu/3.0/WordNet-3.0.tar.bz2",
    {f"dict/{name}": f"wordnet/{name}" for name in (*WORDNET_FILES, "cntlist.rev")}
    | {"WordNet-3.0/LICENSE": "wordnet/LICENSE"},
    "6c492d0c7b4a40e7674d088191d3aa11f373bb1da60762e098b8ee2dda96ef22",
    optional=frozenset({"WordNet-3.0/LICENSE"}),
)
SST = Dataset("sst", (_TREES,), sst.check_folder)
SICK = Dataset("sick", _TEXTS, sick.check_folder)
WORDNET = Dataset("wordnet", (_DICTIONARY,), check_wordnet, loose=("dict", "wordnet"))
