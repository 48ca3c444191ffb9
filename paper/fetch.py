"""The paper's data sets: their official archives, and the layout of the data folder.

DATA/sst/trees/{train,dev,test}.txt        the Stanford Sentiment Treebank
DATA/sst/dep/{split}/                      its dependency parses by the authors' pipeline (local copies only)
DATA/sick/SICK_{train,trial,test_annotated}.txt
DATA/sick/{split}/                         SICK's parses by the authors' pipeline (local copies only)
DATA/{sick,sst}/parsed/PARSER/             trees by a parser (`paper.parses`)
DATA/glove/glove.840B.300d.txt             and others of its kind
DATA/wordnet/{index,data}.{noun,...}       WordNet 3.0, with its lists of exceptions and counts
"""

from pathlib import Path

from bough.data.fetch import Archive, Dataset
from bough.data.paths import SPLITS, check_count
from paper import sick, sst

WORDNET_SIZES = {  # bytes; synsets are identified by their offset in a file, so a file of another size does not fit
    "data.noun": 15_300_280,
    "data.verb": 2_772_517,
    "data.adj": 3_155_427,
    "data.adv": 516_696,
    "index.noun": 4_786_655,
    "index.verb": 523_980,
    "index.adj": 824_127,
    "index.adv": 162_816,
}
WORDNET_FILES = (*WORDNET_SIZES, "noun.exc", "verb.exc", "adj.exc", "adv.exc", "cntlist.rev")


def check_wordnet(folder: Path, *, counts: bool = True) -> None:
    """Raise an error unless `folder/wordnet` is WordNet 3.0. `counts=False` checks nothing."""
    for name, size in WORDNET_SIZES.items() if counts else ():
        path = folder / "wordnet" / name
        check_count(path, path.stat().st_size, size, "bytes")


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
_PARTS = {"sick_train.zip": "train", "sick_trial.zip": "dev", "sick_test_annotated.zip": "test"}
_DICTIONARY = Archive(
    "https://wordnetcode.princeton.edu/3.0/WordNet-3.0.tar.bz2",
    {"WordNet-3.0/LICENSE": "wordnet/LICENSE"} | {f"dict/{n}": f"wordnet/{n}" for n in WORDNET_FILES},
    "6c492d0c7b4a40e7674d088191d3aa11f373bb1da60762e098b8ee2dda96ef22",
    optional=frozenset({"WordNet-3.0/LICENSE"}),
)
SST = Dataset("sst", (_TREES,), sst.check_folder)
SICK = Dataset("sick", tuple(_sick(*part) for part in _PARTS.items()), sick.check_folder)
WORDNET = Dataset("wordnet", (_DICTIONARY,), check_wordnet, loose=("dict", "wordnet"))


def is_there(dataset: Dataset, data: Path) -> bool:
    """Return whether all files of a data set are in the data folder."""
    files = ((archive, item) for archive in dataset.archives for item in archive.files.items())
    return all(name in archive.optional or (data / place).is_file() for archive, (name, place) in files)
