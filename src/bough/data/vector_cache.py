"""A file of vectors, converted once: rows, words and an index in one cache file that is memory-mapped ever after.

seal     CRC-32 of the header and of all that follows the rows
header   JSON, padded with spaces to 4096 bytes together with the seal
rows     (n, dim) float32, in the order of the source
hashes   (n,) uint64, ascending: one per word
starts   (n + 1,) uint64: where each row's word starts in `words`, and where the last one ends
order    (n,) uint32: the row of each hash; equal hashes stand in the order of the source
checks   (n,) uint32: CRC-32 of each row, so that a look-up need not read them all to trust a few
words    the bytes of the words, one after the other
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import mmap
import time
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from bough.data.checksums import ends_digest
from bough.data.glove import GloveFile, Progress
from bough.files import remove_torn, replacing

log = logging.getLogger(__name__)
T = TypeVar("T")

FORMAT = 2
HEADER = 4096
BLOCK = 64  # lines whose numbers are read at once
CAPITALS = 0.001  # a set with a larger share of words with a capital letter is cased
Keep = Callable[[int, bytes], bool]  # whether to keep line so and so with this word


class DamagedError(ValueError):
    """A cache entry that is not what was written."""


class Converted:
    """Vectors to look words up in: `name`, `dim`, `cased`, `rows` (n, dim)."""

    def __init__(self, buffer: bytes | mmap.mmap) -> None:
        try:
            about = json.loads(buffer[4:HEADER])
            self.name, self.cased = str(about["name"]), bool(about["cased"])
            self.dim, count = int(about["dim"]), int(about["count"])
            index = _index_start(count, self.dim)
            self.rows = np.frombuffer(buffer, "<f4", count * self.dim, HEADER).reshape(count, self.dim)
            self._hashes = np.frombuffer(buffer, "<u8", count, index)
            self._starts = np.frombuffer(buffer, "<u8", count + 1, index + 8 * count)
            self._order = np.frombuffer(buffer, "<u4", count, index + 16 * count + 8)
            self._checks = np.frombuffer(buffer, "<u4", count, index + 20 * count + 8)
            self._words = memoryview(buffer)[index + 24 * count + 8 :]
            whole = _seal(buffer[4:HEADER], memoryview(buffer)[index:]) == buffer[:4]
        except (ValueError, LookupError, TypeError) as error:
            raise DamagedError(str(error)) from error
        if not whole:
            raise DamagedError("its index has changed")

    def __len__(self) -> int:
        return len(self._hashes)

    def word(self, row: int) -> bytes:
        """The word whose vector stands in that row."""
        return bytes(self._words[int(self._starts[row]) : int(self._starts[row + 1])])

    def find(self, words: Sequence[bytes]) -> NDArray[np.intp]:
        """(n,) the row of each word, that of the first of its lines; -1 for a word that has none."""
        hashes = np.frombuffer(b"".join(map(_hash, words)), "<u8")
        first = np.searchsorted(self._hashes, hashes, "left").tolist()
        last = np.searchsorted(self._hashes, hashes, "right").tolist()
        found = (
            next((row for row in self._order[a:b].tolist() if self.word(row) == word), -1)
            for a, b, word in zip(first, last, words, strict=True)
        )
        return np.fromiter(found, np.intp, len(words))

    def take(self, rows: Sequence[int] | NDArray[np.intp]) -> NDArray[np.float32]:
        """(n, dim) a copy of these rows, checked."""
        taken = self.rows[rows]
        for row, check in zip(taken, self._checks[rows].tolist(), strict=True):
            if zlib.crc32(row) != check:
                raise DamagedError("a row has changed")
        return taken


def read(
    path: Path,
    use: Callable[[Converted], T],
    *,
    keep: Callable[[], Keep],
    cache: Path | None = None,
    progress: Progress | None = None,
) -> T:
    """What `use` makes of the vectors in the GloVe file `path`, converted in the folder `cache`.

    The entry's name is made of the file's name, size, time and ends: a changed file is a new entry. A damaged
    entry is made again. Without a cache, or where it cannot be written, the lines that `keep()` names are read
    into memory instead.
    """
    if cache is not None:
        entry = cache / f"{path.name}.{_identity(path)}.vectors"
        try:
            try:
                return use(_opened(entry))
            except FileNotFoundError:
                pass
            except DamagedError as error:
                log.warning("%s: a damaged entry of the vector cache (%s); rebuilding it", entry, error)
            with _alone(cache):
                with suppress(FileNotFoundError, DamagedError):  # another process may have made it meanwhile
                    return use(_opened(entry))
                _make(entry, path, progress)
            return use(_opened(entry))
        except (OSError, DamagedError) as error:
            log.warning("%s: the vector cache cannot be used (%s)", cache, error)
    memory = io.BytesIO()
    convert(GloveFile(path), memory, keep(), progress)
    return use(Converted(memory.getvalue()))


def convert(
    glove: GloveFile, out: BinaryIO, keep: Keep = lambda number, word: True, progress: Progress | None = None
) -> None:
    """Write the lines that `keep` names to `out`, row by row: what is held in memory is the index alone."""
    hashes, checks, starts, words = bytearray(), array("Q"), array("Q", [0]), bytearray()
    total = capitals = 0

    def kept() -> Iterator[tuple[int, bytes]]:
        nonlocal total, capitals, hashes, words
        for total, word, values in glove.lines(progress):
            capitals += word != word.lower()
            if keep(total, word):
                hashes += _hash(word)
                words += word
                starts.append(len(words))
                yield total, values

    out.write(bytes(HEADER))
    lines = kept()
    while block := list(islice(lines, BLOCK)):
        rows = glove.vectors(block).astype("<f4")
        checks.extend(map(zlib.crc32, rows))
        out.write(rows.tobytes())
    count = len(checks)
    unsorted = np.frombuffer(hashes, "<u8")
    order = np.argsort(unsorted, kind="stable")
    index = b"".join(
        (
            unsorted[order].tobytes(),
            np.asarray(starts, "<u8").tobytes(),
            order.astype("<u4").tobytes(),
            np.asarray(checks, "<u4").tobytes(),
            words,
        )
    )
    out.seek(_index_start(count, glove.dim))
    out.write(index)
    about = {"name": glove.name, "dim": glove.dim, "count": count, "cased": capitals > CAPITALS * total}
    header = json.dumps(about).encode().ljust(HEADER - 4)
    out.seek(0)
    out.write(_seal(header, index) + header)


def _make(entry: Path, path: Path, progress: Progress | None) -> None:
    started = time.perf_counter()
    log.info("%s: converting it into %s, once", path, entry.parent)
    with replacing(entry) as temporary, temporary.open("wb") as file:
        convert(GloveFile(path), file, progress=progress)
    log.info("%s: converted in %.0f seconds", path, time.perf_counter() - started)


def _opened(entry: Path) -> Converted:
    with entry.open("rb") as file:
        try:
            return Converted(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError as error:  # an empty file, which cannot be mapped, or a DamagedError
            raise DamagedError(str(error)) from error


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """One process at a time, where the system has such locks; without, two do the same work, and both end right."""
    cache.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (cache / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        remove_torn(cache)
        yield


def _identity(path: Path) -> str:
    status = path.stat()
    identity = [FORMAT, path.name, status.st_size, status.st_mtime_ns, ends_digest(path)]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


def _index_start(count: int, dim: int) -> int:
    return HEADER + -(-4 * count * dim // 8) * 8  # what is 8 bytes long stands at a multiple of 8


def _hash(word: bytes) -> bytes:
    return hashlib.blake2b(word, digest_size=8).digest()


def _seal(header: bytes, index: bytes | memoryview) -> bytes:
    return zlib.crc32(index, zlib.crc32(header)).to_bytes(4, "little")
