"""Word vectors: text files in GloVe's format, and random vectors for other words.

A file is converted once to two files in the user cache: `NAME.npy`, the rows as float32, and
`NAME.json`, the words. The rows are then memory-mapped, so that only those that are needed are
read.
"""

import gzip
import hashlib
import logging
import re
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from bough.data.checksums import ends_digest
from bough.data.paths import require, user_cache
from bough.errors import FormatError
from bough.files import read_json, replacing, write_json
from bough.formats.ptb import unescaped

log = logging.getLogger(__name__)

SCALE = 0.05  # random vectors are U(-0.05, 0.05)
CAPITALS = 0.001  # a set is cased if a larger share of its words has capital letters


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of some words: `rows[i]` is that of `words[i]`, and zeros if `found[i]` is False.

    `cased` says whether the set distinguishes `Apple` from `apple`. Shape: rows (n, dim) float32; found (n,) bool.
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


def load_vectors(path: Path | str, words: Iterable[str], *, cache: Path | None = None) -> Vectors:
    """Look up words in a file of vectors (`.txt`, `.txt.gz` or `.zip`).

    A word is looked up without Penn Treebank escapes (`-LRB-` is `(`), then as it is, and then, if
    the set is not cased, in lower case. A set is cased if more than one in a thousand of its words
    has capital letters. The first of duplicate lines is used.

    Args:
        path: the file.
        words: the words, each once.
        cache: the folder of converted files; None is the user cache.
    """
    asked = tuple(words)
    word, times = Counter(asked).most_common(1)[0] if asked else ("", 1)
    if times > 1:
        raise ValueError(f"{word!r} occurs twice; a vocabulary has each word once")
    file = read_vectors(path, cache=cache)
    forms = [[unescaped(word), word] for word in asked]
    if not file.cased:
        forms = [[*two, *(form.lower() for form in two)] for two in forms]
    wanted = {form for some in forms for form in some}
    row_of: dict[str, int] = {}
    for row, word in enumerate(file.words):
        if word in wanted:
            row_of.setdefault(word, row)
    places = np.array([next((row_of[f] for f in some if f in row_of), -1) for some in forms], dtype=np.intp)
    found = places >= 0
    rows = np.zeros((len(asked), file.dim), dtype=np.float32)
    rows[found] = file.rows[places[found]]
    return Vectors(file.name, asked, rows, found, file.cased)


def first_vectors(path: Path, most: int, *, cache: Path | None = None) -> Vectors:
    """Return the first `most` vectors of a file, which in GloVe are those of the most frequent words."""
    file = read_vectors(path, cache=cache)
    rows = np.array(file.rows[:most])
    return Vectors(file.name, file.words[:most], rows, file.found[:most], file.cased)


def embedding_rows(vectors: Vectors, seed: int) -> NDArray[np.float32]:
    """Return (n, dim) a copy of the rows, with random vectors for words without a vector."""
    rows = np.array(vectors.rows, dtype=np.float32)
    missing = np.flatnonzero(~vectors.found)
    rows[missing] = random_rows([vectors.words[index] for index in missing], vectors.dim, seed)
    return rows


def random_rows(words: Iterable[str], dim: int, seed: int) -> NDArray[np.float32]:
    """Return (n, dim) vectors U(-0.05, 0.05), each of which depends only on its word and the seed."""
    texts = [f"{seed}\0{word}".encode("utf-8", "surrogatepass") for word in words]
    noise = b"".join(hashlib.shake_256(text).digest(4 * dim) for text in texts)
    uniform = np.frombuffer(noise, dtype="<u4").reshape(len(texts), dim) / 2**32
    return (SCALE * (2 * uniform - 1)).astype(np.float32)


def read_vectors(path: Path | str, *, cache: Path | None = None) -> Vectors:
    """Return all vectors of a file, memory-mapped from its converted copy in the cache.

    The name of the copy depends on the size, the time and the ends of the file, so that a changed
    file is converted again. If the cache cannot be written, a warning is logged and the vectors are
    read into memory.
    """
    path, cache = Path(path), cache or user_cache() / "vectors"
    require([path], "glove", "run `bough fetch glove`")
    status = path.stat()
    identity = f"{status.st_size} {status.st_mtime_ns} {ends_digest(path)}"
    name = f"{path.name}.{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
    try:
        return _load(cache / name, "r")
    except (OSError, EOFError, ValueError, KeyError) as error:
        if (cache / f"{name}.json").exists():
            log.warning("%s: a damaged copy of %s (%s); converting it again", cache / name, path, error)
    log.info("%s: converting it into %s, once", path, cache)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        _convert(path, cache / name)
        return _load(cache / name, "r")
    except OSError as error:
        log.warning("%s: the cache of vectors cannot be used (%s)", cache, error)
    with tempfile.TemporaryDirectory() as folder:
        _convert(path, Path(folder) / name)
        return _load(Path(folder) / name, None)


def _load(entry: Path, mode: Literal["r"] | None) -> Vectors:
    about = read_json(entry.with_name(f"{entry.name}.json"))
    rows = np.load(entry.with_name(f"{entry.name}.npy"), mmap_mode=mode)
    if rows.shape != (len(about["words"]), about["dim"]):
        raise ValueError(f"rows of shape {rows.shape} for {len(about['words'])} words")
    found = np.ones(len(rows), dtype=np.bool_)
    return Vectors(about["name"], tuple(about["words"]), rows, found, about["cased"])


def _convert(path: Path, entry: Path) -> None:
    """Write the rows, then the words, so that a file of words implies a complete file of rows."""
    words: list[str] = []
    dim = 0

    # written twice, as the number of rows is known only at the end; NumPy pads it to the same length
    def write_header(file: IO[bytes]) -> None:
        shape = (len(words), dim)
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})

    with replacing(entry.with_name(f"{entry.name}.npy")) as temporary, temporary.open("wb") as file:
        for number, word, values in vector_lines(path):
            try:
                with np.errstate(over="ignore"):  # a number too large for float32 becomes inf, an error below
                    row = np.array(values, dtype="<f4")
            except ValueError as error:
                reason = f"not a number among the values ({error})"
                raise FormatError(reason, where=str(path), line=number) from None
            if not np.isfinite(row).all():
                raise FormatError("a value is infinite or not a number", where=str(path), line=number)
            if not words:
                dim = len(row)
                write_header(file)
            words.append(word)
            file.write(row.tobytes())
        file.seek(0)
        write_header(file)
    capitals = sum(word != word.lower() for word in words)
    about = {"name": _name(path), "dim": dim, "cased": capitals > CAPITALS * len(words), "words": words}
    write_json(entry.with_name(f"{entry.name}.json"), about)


def vector_lines(path: Path) -> Iterator[tuple[int, str, list[bytes]]]:
    """Yield the number, the word and the values of each line. Raise a FormatError for a line with too few values.

    The length of a vector is taken from the name of the file (`.300d`), else from the first line.
    The word is everything before the values, so it may contain spaces.
    """
    name, where = _name(path), str(path)
    named = re.search(r"\.(\d+)d\b", name)
    dim = int(named[1]) if named else 0
    number = 0
    with _opened(path) as stream:
        for number, line in enumerate(stream, 1):
            fields = line.rstrip().split(b" ")
            if number == 1:
                dim = dim or len(fields) - 1
                if dim < 1:
                    raise FormatError("no values; every line is a word and its values", where=where, line=1)
                if len(fields) == 2 and line.replace(b" ", b"").strip().isdigit():
                    reason = "a word2vec header; GloVe's own format has none, delete the line"
                    raise FormatError(reason, where=where, line=1)
            if len(fields) <= dim:
                reason = f"{len(fields) - 1} values; a vector of {name} has {dim}"
                raise FormatError(reason, where=where, line=number)
            yield number, b" ".join(fields[:-dim]).decode("utf-8", "replace"), fields[-dim:]
    if number == 0:
        raise FormatError("an empty file; every line is a word and its values", where=str(path), line=1)


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[bytes]]:
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as packed:
                yield packed
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(_member(archive, path)) as member:
                yield member
        else:
            with path.open("rb") as file:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise FormatError(f"a damaged archive ({error}); fetch it again", where=str(path)) from error


def _name(path: Path) -> str:
    """Return the name of a set, such as `glove.840B.300d`."""
    if path.suffix != ".zip":
        return path.name.removesuffix(".gz").removesuffix(".txt")
    try:
        with zipfile.ZipFile(path) as archive:
            return Path(_member(archive, path)).stem
    except zipfile.BadZipFile as error:
        raise FormatError(f"not a zip file ({error}); fetch it again", where=str(path)) from error


def _member(archive: zipfile.ZipFile, path: Path) -> str:
    """Return the largest text file of an archive: glove.6B.zip has vectors of four lengths."""
    texts = [info for info in archive.infolist() if info.filename.endswith(".txt")]
    if not texts:
        raise FormatError("no .txt file in it; an archive of vectors has one", where=str(path))
    return max(texts, key=lambda info: info.file_size).filename
