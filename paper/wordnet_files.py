"""WordNet 3.0's database files, and what is known of them."""

from __future__ import annotations

from pathlib import Path

from bough.data.paths import check_count
from bough.errors import FormatError

SYNSETS = {"noun": 82_115, "verb": 13_767, "adj": 18_156, "adv": 3_621}
WORDS = {"noun": 117_798, "verb": 11_529, "adj": 21_479, "adv": 4_481}

FILES = tuple(name.format(part) for name in ("index.{}", "data.{}", "{}.exc") for part in SYNSETS)


def check_folder(folder: Path, *, counts: bool = True) -> None:
    """A FormatError or DataError unless `folder/wordnet` is a whole WordNet 3.0; `counts=False` takes parts of it."""
    wordnet = folder / "wordnet"
    for part in SYNSETS:
        synsets = _count(wordnet / f"data.{part}", offsets=True)
        words = _count(wordnet / f"index.{part}")
        if counts:
            check_count(wordnet / f"data.{part}", synsets, SYNSETS[part], "synsets")
            check_count(wordnet / f"index.{part}", words, WORDS[part], "words")


def _count(path: Path, *, offsets: bool = False) -> int:
    """The entries of a file, which are found by their place in it: each synset's number is its offset in bytes."""
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
