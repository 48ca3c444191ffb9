"""A small data folder in the layout of SST and SICK, its sentences known one by one; it may be written to."""

from __future__ import annotations

from pathlib import Path

import pytest

SPLITS = ("train", "dev", "test")
TREES = """\
(3 (2 The) (3 (2 elm) (4 (4 (3 grew) (2 tall)) (2 .))))
(2 (2 It) (2 (2 rained) (2 -LRB-)))
(0 (1 Rot) (0 (2 and\\/or) (1 rust)))
"""
DEPENDENCY = {
    "sents.toks": "The elm grew tall .\nIt rained (\nRot and\\/or rust\n",
    "dparents.txt": "2 3 0 3 3\n2 0 2\n0 1 1\n",
    "rels.txt": "det nsubj root acomp punct\nnsubj root punct\nroot cc conj\n",
    "dlabels.txt": "0 # 1 0 0\n0 # 0\n-2 0 -1\n",
}
SICK = {
    "a.toks": "A cat naps\nTwo owls\n",
    "a.parents": "2 3 0\n2 0\n",
    "a.rels": "det nsubj root\nnum root\n",
    "a.cparents": "5 5 4 0 4\n3 3 0\n",
    "b.toks": "The cat sleeps\nAn owl hoots\n",
    "b.parents": "2 3 0\n2 3 0\n",
    "b.rels": "det nsubj root\ndet nsubj root\n",
    "b.cparents": "5 5 4 0 4\n5 5 4 0 4\n",
    "id.txt": "11\n12\n",
    "sim.txt": "4.6\n2\n",
}


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A data folder with three sentences of SST and two pairs of SICK in every split."""
    folder = tmp_path / "data"
    for split in SPLITS:
        write_files(folder / "sst" / "trees", {f"{split}.txt": TREES})
        write_files(folder / "sst" / "dep" / split, DEPENDENCY)
        write_files(folder / "sick" / split, SICK)
    return folder


def write_files(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
