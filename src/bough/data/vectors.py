"""Word vectors: the rows of the wanted words out of a GloVe file, and random ones for words without."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bough.data.glove import Progress
from bough.data.paths import require
from bough.data.vector_cache import Converted, Keep, read
from bough.formats.escapes import unescaped

SCALE = 0.05  # a word without a vector gets U(-0.05, 0.05)
EXACT = (unescaped, str)
LOWER = (lambda word: unescaped(word).lower(), str.lower)


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of some words: `rows[i]` is that of `words[i]`, zeros where `found[i]` is False.

    Shape: rows (n, dim) float32; found (n,) bool.
    `cased` says whether the set tells `Apple` from `apple`.
    """

    name: str
    words: tuple[str, ...]
    rows: NDArray[np.float32]
    found: NDArray[np.bool_]
    cased: bool

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return int(self.rows.shape[1])


def load_vectors(
    path: Path | str, words: Iterable[str], *, cache: Path | None = None, progress: Progress | None = None
) -> Vectors:
    """The vectors of `words` from a GloVe text file (`.txt`, `.txt.gz` or `.zip`).

    A word is looked up as it stands, Penn Treebank escapes undone (`-LRB-` is `(`), else literally. If the
    set is lower-case, that is, if at most one in a thousand of the file's words has a capital letter, then a
    word still missing is looked up lower-cased; a cased set has no such second try. The first of duplicate
    lines counts.

    With a `cache` folder the whole file is converted there first, every number of it checked, and all later
    look-ups are answered from that. Without one, each is a pass over the file that holds the wanted rows
    alone. `progress` is called with bytes read and bytes in all.
    """
    path, wanted = Path(path), _vocabulary(words)
    require([path], "glove", "run `bough fetch glove`")

    def keep() -> Keep:
        forms = {_bytes(form(word)) for word in wanted for form in (*EXACT, *LOWER)}
        return lambda number, word: word in forms

    def look_up(source: Converted) -> Vectors:
        places = np.full(len(wanted), -1, dtype=np.intp)
        for form in EXACT if source.cased else (*EXACT, *LOWER):
            missing = np.flatnonzero(places < 0)
            places[missing] = source.find([_bytes(form(wanted[index])) for index in missing])
        found = places >= 0
        rows = np.zeros((len(wanted), source.dim), dtype=np.float32)
        rows[found] = source.take(places[found])
        return Vectors(source.name, wanted, rows, found, source.cased)

    return read(path, look_up, keep=keep, cache=cache, progress=progress)


def first_vectors(
    path: Path, most: int, *, cache: Path | None = None, progress: Progress | None = None
) -> Vectors:
    """The vectors of the first `most` lines of a file: GloVe has the most frequent words first."""
    require([path], "glove", "run `bough fetch glove`")

    def look_up(source: Converted) -> Vectors:
        places = range(min(most, len(source)))
        words = tuple(source.word(place).decode("utf-8", "replace") for place in places)
        found = np.ones(len(words), dtype=np.bool_)
        return Vectors(source.name, words, source.take(places), found, source.cased)

    return read(
        path, look_up, keep=lambda: lambda number, word: number <= most, cache=cache, progress=progress
    )


def embedding_rows(vectors: Vectors, seed: int) -> NDArray[np.float32]:
    """(n, dim) a fresh copy of the rows, U(-0.05, 0.05) where a word has no vector."""
    rows = np.array(vectors.rows, dtype=np.float32)
    missing = np.flatnonzero(~vectors.found)
    rows[missing] = random_rows([vectors.words[index] for index in missing], vectors.dim, seed)
    return rows


def random_rows(words: Iterable[str], dim: int, seed: int) -> NDArray[np.float32]:
    """(n, dim) U(-0.05, 0.05), a function of each word and the seed alone, whatever the other words are."""
    noise = [hashlib.shake_256(_bytes(f"{seed}\0{word}")).digest(4 * dim) for word in words]
    uniform = np.frombuffer(b"".join(noise), dtype="<u4").reshape(len(noise), dim) / 2**32
    return (SCALE * (2 * uniform - 1)).astype(np.float32)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # what is no proper text is just not found


def _vocabulary(words: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(words)
    for word, times in Counter(listed).items():
        if times > 1:
            raise ValueError(f"{word!r} occurs twice; a vocabulary has each word once")
    return listed
