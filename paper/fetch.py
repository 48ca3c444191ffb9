"""The paper's data, from its official places or from local copies, into one layout.

DATA/sst/trees/{train,dev,test}.txt        the Stanford Sentiment Treebank
DATA/sst/dep/{split}/                      its dependency parses (local copies only)
DATA/sick/SICK_{train,trial,test_annotated}.txt
DATA/sick/{split}/                         SICK's parses (local copies only)
DATA/glove/glove.840B.300d.txt             and others of its kind
DATA/wordnet/{index,data}.{noun,...}       WordNet 3.0, with its lists of exceptions and counts
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bough.data.download import Progress
from bough.data.fetch import Archive, Check, Dataset
from bough.data.paths import SPLITS
from paper import sick, sst
from paper import wordnet_files as wordnet


def _checked(check_folder: Callable[..., None]) -> Check:
    def check(folder: Path, downloaded: bool, counts: bool, progress: Progress | None) -> None:
        check_folder(folder, counts=counts)

    return check


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
    {f"dict/{name}": f"wordnet/{name}" for name in (*wordnet.FILES, "cntlist.rev")}
    | {"WordNet-3.0/LICENSE": "wordnet/LICENSE"},
    "6c492d0c7b4a40e7674d088191d3aa11f373bb1da60762e098b8ee2dda96ef22",
    optional=frozenset({"WordNet-3.0/LICENSE"}),
)
SST = Dataset("sst", (_TREES,), _checked(sst.check_folder))
SICK = Dataset("sick", _TEXTS, _checked(sick.check_folder))
WORDNET = Dataset("wordnet", (_DICTIONARY,), _checked(wordnet.check_folder), loose=("dict", "wordnet"))
