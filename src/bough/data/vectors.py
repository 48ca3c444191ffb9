"""Word vectors: GloVe text in, the rows of the wanted words out, kept in a memory-mapped cache."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.glove import GloveFile, Progress
from bough.data.identity import ends_digest, sha256
from bough.data.location import require
from bough.errors import DataError
from bough.formats.escapes import unescaped

log = logging.getLogger(__name__)

SETS = ("840B", "42B", "6B")
ENOUGH = 0.95  # of the training tokens, for `choose` to take 840B
CAPITALS = 0.001  # a set with a larger share of words with a capital letter is cased
SCALE = 0.05  # a word without a vector gets U(-0.05, 0.05)
CACHE_FORMAT = 1


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of some words: `rows[i]` is that of `words[i]`, zeros where `found[i]` is False.

    Shape: rows (n, dim) float32, memory-mapped and read-only where it comes from a cache; found (n,) bool.
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


@dataclass(frozen=True)
class Coverage:
    """How much of a text the vectors know, in types (distinct words) and in tokens (running words)."""

    types: int
    types_found: int
    tokens: int
    tokens_found: int

    @property
    def share(self) -> float:
        """The found part of the tokens; 1 for an empty text."""
        return self.tokens_found / self.tokens if self.tokens else 1.0

    def __str__(self) -> str:
        types = self.types_found / self.types if self.types else 1.0
        return f"{types:.1%} of {self.types:,} types, {self.share:.1%} of {self.tokens:,} tokens"


def load_vectors(
    path: Path | str, words: Iterable[str], *, cache: Path | None = None, progress: Progress | None = None
) -> Vectors:
    """The vectors of `words` from a GloVe text file (`.txt`, `.txt.gz` or `.zip`), in one pass over it.

    A word is looked up as it stands, Penn Treebank escapes undone (`-LRB-` is `(`), else literally. If the
    set is lower-case, that is, if at most one in a thousand of the file's words has a capital letter, then a
    word still missing is looked up lower-cased; a cased set has no such second try. The first of duplicate
    lines counts. Only the wanted rows are held, so memory does not grow with the file.

    With a `cache` folder the rows are kept there, under a key made of the file's name, size, time and ends
    and of the words; a changed file or vocabulary is a new key, and a damaged entry is made again.
    `progress` is called with bytes read and bytes in all.
    """
    path, wanted = Path(path), _vocabulary(words)
    require([path], "glove")
    entry = None if cache is None or not wanted else cache / _key(path, wanted)
    vectors = None if entry is None else _recall(entry, wanted)
    if vectors is not None:
        return vectors
    vectors = _scan(GloveFile(path), wanted, progress)
    if entry is None:
        return vectors
    return _remember(entry, vectors)


def coverage(vectors: Vectors, counts: Mapping[str, int]) -> Coverage:
    """How many of the words in `counts` (word to number of occurrences) have a vector."""
    found = dict(zip(vectors.words, vectors.found.tolist(), strict=True))
    for word in counts:
        if word not in found:
            raise ValueError(f"counts has {word!r}, which is not among the {len(found):,} words looked up")
    return Coverage(
        types=len(counts),
        types_found=sum(found[word] for word in counts),
        tokens=sum(counts.values()),
        tokens_found=sum(count for word, count in counts.items() if found[word]),
    )


def choose(
    data: Path,
    counts: Mapping[str, int],
    which: str | Path = "auto",
    *,
    words: Iterable[str] | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """The file of vectors to use: a set's name (`840B`, `42B`, `6B`), a path, or `auto`.

    `auto` is 840B if the file at hand has at least 95% of the tokens in `counts` (the training split's),
    else 6B. To know that, 840B is read once: pass as `words` and `cache` what `load_vectors` will get, and
    that pass is not repeated.
    """
    if which != "auto":
        return _named(data, which)
    large, small = _at_hand(data, "840B"), _at_hand(data, "6B")
    if large is None and small is None:
        raise DataError(
            f"{data / 'glove'}: neither glove.840B.300d nor glove.6B.300d; run `bough fetch glove`, "
            "or name a file with --vectors"
        )
    if large is None:
        assert small is not None
        log.info("vectors: %s, as 840B is not at hand", small.name)
        return small
    vocabulary = list(counts if words is None else words)
    known = coverage(load_vectors(large, vocabulary, cache=cache, progress=progress), counts)
    if known.share >= ENOUGH:
        log.info("vectors: %s has %s", large.name, known)
        return large
    if small is None:
        raise DataError(
            f"{large}: has {known}, {ENOUGH:.0%} wanted, and no glove.6B.300d is beside it; "
            "run `bough fetch glove`, or take it all the same with --vectors 840B"
        )
    log.info("vectors: %s, as %s has only %s", small.name, large.name, known)
    return small


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


# ---------------------------------------------------------------------- the pass over the file


def _scan(glove: GloveFile, words: tuple[str, ...], progress: Progress | None) -> Vectors:
    wanted = {form for word in words for form in (*_forms(word), *_forms(word, lower=True))}
    kept: dict[bytes, NDArray[np.float32]] = {}
    total = capitals = 0
    for total, text, values in glove.lines(progress):
        capitals += text != text.lower()
        if text in wanted and text not in kept:
            kept[text] = glove.vector(values, total)
    cased = capitals > CAPITALS * total
    rows = np.zeros((len(words), glove.dim), dtype=np.float32)
    found = np.zeros(len(words), dtype=np.bool_)
    for index, word in enumerate(words):
        forms = _forms(word) if cased else (*_forms(word), *_forms(word, lower=True))
        form = next((form for form in forms if form in kept), None)
        if form is not None:
            rows[index], found[index] = kept[form], True
    return Vectors(glove.name, words, rows, found, cased)


def _forms(word: str, *, lower: bool = False) -> tuple[bytes, bytes]:
    plain = unescaped(word)
    if lower:
        plain, word = plain.lower(), word.lower()
    return _bytes(plain), _bytes(word)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # what is no proper text is just not found


def _vocabulary(words: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(words)
    if len(set(listed)) < len(listed):
        seen: set[str] = set()
        twice = next(word for word in listed if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise ValueError(f"{twice!r} is twice among the words; a vocabulary has each once")
    return listed


# ---------------------------------------------------------------------- the files at hand


def _named(data: Path, which: str | Path) -> Path:
    if which not in SETS:
        if not Path(which).is_file():
            raise DataError(f"vectors {str(which)!r}: no such file, nor 'auto', {', '.join(map(repr, SETS))}")
        return Path(which)
    path = _at_hand(data, str(which))
    if path is None:
        raise DataError(
            f"{data / 'glove'}: no glove.{which}.300d; run `bough fetch glove`, or name a file with --vectors"
        )
    return path


def _at_hand(data: Path, which: str) -> Path | None:
    stem = f"glove.{which}"
    names = (f"{stem}.300d.txt", f"{stem}.300d.txt.gz", f"{stem}.300d.zip", f"{stem}.zip")
    return next((path for name in names if (path := data / "glove" / name).is_file()), None)


# ---------------------------------------------------------------------- the cache


def _key(path: Path, words: tuple[str, ...]) -> str:
    status = path.stat()
    spelled = hashlib.sha256(json.dumps(words).encode()).hexdigest()
    identity = [CACHE_FORMAT, path.name, status.st_size, status.st_mtime_ns, ends_digest(path), spelled]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


def _recall(entry: Path, words: tuple[str, ...]) -> Vectors | None:
    rows_file, about_file = entry.with_suffix(".npy"), entry.with_suffix(".json")
    if not about_file.exists():
        return None
    try:
        about: dict[str, Any] = json.loads(about_file.read_text("utf-8"))
        if sha256(rows_file) != about["sha256"]:
            raise ValueError("its rows have changed")
        rows = np.load(rows_file, mmap_mode="r", allow_pickle=False)
        found = np.ones(len(words), dtype=np.bool_)
        found[about["missing"]] = False
        return Vectors(str(about["name"]), words, rows, found, bool(about["cased"]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        log.warning("%s: a damaged entry of the vector cache (%s); it is made again", entry, error)
        return None


def _remember(entry: Path, vectors: Vectors) -> Vectors:
    """The same vectors, memory-mapped from the cache, or as they are where it cannot be written."""
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=entry.parent, prefix=".tmp-") as folder:
            rows_file, about_file = Path(folder, "rows.npy"), Path(folder, "about.json")
            np.save(rows_file, vectors.rows, allow_pickle=False)
            about = {
                "name": vectors.name,
                "cased": vectors.cased,
                "missing": np.flatnonzero(~vectors.found).tolist(),
                "sha256": sha256(rows_file),
            }
            about_file.write_text(json.dumps(about), "utf-8")
            os.replace(rows_file, entry.with_suffix(".npy"))
            os.replace(about_file, entry.with_suffix(".json"))  # last: it makes the entry count
    except OSError as error:
        log.warning("%s: the vector cache cannot be written (%s)", entry.parent, error)
        return vectors
    return _recall(entry, vectors.words) or vectors
