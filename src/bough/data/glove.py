"""GloVe text files, line by line: plain, gzipped or zipped, of any size, in little memory."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from bough.data.decimals import plain_decimals
from bough.errors import FormatError

Progress = Callable[[int, int], None]  # bytes read, bytes in all
BUFFER = 1 << 20
LINES_A_STEP = 4096  # between two calls of a progress function

KNOWN_LINES = {"glove.6B.300d": 400_000, "glove.42B.300d": 1_917_494, "glove.840B.300d": 2_196_017}


class GloveFile:
    """One set of vectors as text: `name` (`glove.840B.300d`), `dim`, and its lines.

    `.gz` and `.zip` are read as they are. Of an archive with several sets (glove.6B.zip) it is the one with
    the longest vectors. `dim` comes from the name where it has one (`.300d`), else from the first line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = _name(path)
        with self._stream() as (stream, _, _):
            first = stream.readline().rstrip()
        self.dim = self._dimension(first)

    def lines(self, progress: Progress | None = None) -> Iterator[tuple[int, bytes, bytes]]:
        """(line number, word, values), the values still text; FormatError where a line is torn or malformed.

        A word is what stands before the last `dim` fields, so it may contain spaces. The fields of every
        line are counted. The numbers are read here only where that is not enough: a word with spaces, which
        may be the wreck of two lines, or a last line without its newline.
        """
        dim = self.dim
        with self._stream() as (stream, position, total):
            for number, line in enumerate(stream, 1):
                text = line.rstrip()
                spaces = text.count(b" ")
                if spaces < dim:
                    raise self._error(f"{spaces} values; a vector of {self.name} has {dim}", number)
                if spaces == dim:
                    word, _, values = text.partition(b" ")
                else:
                    word = text.rsplit(b" ", dim)[0]
                    values = text[len(word) + 1 :]
                if spaces > dim or not line.endswith(b"\n"):
                    self.vector(values, number)
                yield number, word, values
                if progress is not None and number % LINES_A_STEP == 0:
                    progress(position(), total)
            if progress is not None:
                progress(total, total)

    def count(self, progress: Progress | None = None) -> int:
        """The number of lines, all of them checked as `lines` does."""
        return sum(1 for _ in self.lines(progress))

    def vector(self, values: bytes, number: int) -> NDArray[np.float32]:
        """(dim,) the values of line `number` as numbers; FormatError if one is none, or not finite."""
        try:
            with np.errstate(over="ignore"):  # beyond float32 is inf, which is refused below
                vector = np.array(values.split(b" "), dtype=np.float32)
        except ValueError as error:
            raise self._error(f"not a number among the values ({error})", number) from None
        if not np.isfinite(vector).all():
            raise self._error("a value is infinite or not a number", number)
        return vector

    def vectors(self, lines: Sequence[tuple[int, bytes]]) -> NDArray[np.float32]:
        """(n, dim) what `vector` gives for each (number, values), for many lines in less time."""
        rows = np.empty((len(lines), self.dim), dtype=np.float32)
        plain = [place for place, (_, values) in enumerate(lines) if b"e" not in values]  # 1.5e-05
        numbers = plain_decimals(b" ".join(lines[place][1] for place in plain))
        if numbers is None:
            plain = []
        else:
            rows[plain] = numbers.reshape(len(plain), self.dim)
        for place in {*range(len(lines))} - {*plain}:
            number, values = lines[place]
            rows[place] = self.vector(values, number)
        return rows

    def _dimension(self, first: bytes) -> int:
        if not first:
            raise self._error("an empty line; every line is a word and its values", 1)
        if re.fullmatch(rb"\d+ \d+", first):
            raise self._error("a word2vec header; GloVe's own format has none, delete the line", 1)
        named = re.search(r"\.(\d+)d\b", self.name)
        dim = int(named.group(1)) if named else first.count(b" ")
        if dim < 1:
            raise self._error("no values; every line is a word and its values", 1)
        return dim

    @contextmanager
    def _stream(self) -> Iterator[tuple[BinaryIO, Callable[[], int], int]]:
        """The text, a function that says how far it is read, and the total on that scale."""
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(self.path.open("rb", buffering=BUFFER))
                size = self.path.stat().st_size
                if self.path.suffix == ".gz":
                    unzipped = stack.enter_context(gzip.open(raw))
                    yield cast(BinaryIO, io.BufferedReader(unzipped, BUFFER)), raw.tell, size
                elif self.path.suffix == ".zip":
                    archive = stack.enter_context(zipfile.ZipFile(raw))
                    member = stack.enter_context(archive.open(_member(archive, self.path)))
                    yield cast(BinaryIO, io.BufferedReader(member, BUFFER)), raw.tell, size
                else:
                    yield raw, raw.tell, size
            except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
                raise self._error(f"the compressed file is damaged ({error}); fetch it again") from error

    def _error(self, reason: str, line: int | None = None) -> FormatError:
        return FormatError(reason, where=str(self.path), line=line)


def _name(path: Path) -> str:
    if path.suffix != ".zip":
        return path.name.removesuffix(".gz").removesuffix(".txt")
    try:
        with zipfile.ZipFile(path) as archive:
            return Path(_member(archive, path).filename).stem
    except zipfile.BadZipFile as error:
        raise FormatError(f"not a zip file ({error}); fetch it again", where=str(path)) from error


def _member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    texts = [info for info in archive.infolist() if info.filename.endswith(".txt")]
    if not texts:
        raise FormatError("no .txt file in it; an archive of vectors has one", where=str(path))
    return max(texts, key=lambda info: info.file_size)
