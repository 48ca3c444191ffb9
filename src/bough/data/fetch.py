"""Download data sets, or copy local files of them, into the data folder.

All files are first collected and checked in a temporary folder inside the data folder, then moved
to their final names. So a failed download or check changes nothing, and no file is ever incomplete.
"""

import logging
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bough.data.checksums import sha256
from bough.data.vectors import vector_lines
from bough.errors import DataError, FormatError

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int | None], None]  # the name of the file, bytes done, bytes in total if known
TIMEOUT = 60  # seconds without an answer
Check = Callable[..., None]  # check(folder, counts=): raise an error if its files are wrong


@dataclass(frozen=True)
class Archive:
    """A zip or tar archive at a URL. `files` maps the ends of the paths in it to paths in the data folder.

    Either the archive has a known `sha256`, or every file in it has one in `digests`, by its path in the data folder.
    """

    url: str
    files: Mapping[str, str]
    sha256: str | None = None
    optional: frozenset[str] = frozenset()  # files that the archive may lack
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file name of the archive."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Dataset:
    """The archives of a data set, and a function that checks its files.

    `check(folder, counts=)` raises a DataError or FormatError if the files in `folder` are wrong.
    Local copies are looked for in a subfolder with the name of the data set; with `loose`, by their
    file names in the folder itself and in subfolders of these names.
    """

    name: str
    archives: Sequence[Archive]
    check: Check
    loose: tuple[str, ...] = ()
    command: str = "python -m paper fetch"  # the command that fetches it, for messages


def _check_glove(folder: Path, *, counts: bool) -> None:
    for path in sorted((folder / "glove").iterdir()):
        for _ in vector_lines(path):  # raises an error where a line is too short
            pass


def _glove(archive: str, text: str, digest: str) -> Dataset:
    packed = Archive(f"https://nlp.stanford.edu/data/{archive}", {text: f"glove/{text}"}, digest)
    return Dataset("glove", (packed,), _check_glove, loose=("glove",), command="bough fetch")


GLOVE = {
    name: _glove(archive, f"glove.{name}.300d.txt", digest)
    for name, archive, digest in (
        ("840B", "glove.840B.300d.zip", "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f"),
        ("42B", "glove.42B.300d.zip", "03d5d7fa28e58762ace4b85fb71fe86a345ef0b5ff39f5390c14869da0fc1970"),
        ("6B", "glove.6B.zip", "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb"),
    )
}


def fetch(
    dataset: Dataset,
    data: Path,
    *,
    source: Path | None = None,
    check: bool = True,
    progress: Progress | None = None,
) -> list[Path]:
    """Download or copy a data set into the folder `data`, and return its files.

    Args:
        dataset: what to fetch.
        data: the data folder.
        source: a folder with local copies, as files or as the official archives; None to download.
        check: whether to check the number of trees, pairs or synsets.
        progress: is called with the name of a file, the bytes done, and the bytes in total.

    Raises:
        DataError: if a download fails, or if a file is missing, damaged or not the expected one.
    """
    placed = []
    try:
        data.mkdir(parents=True, exist_ok=True)
        # inside the data folder, so that moving a file into place is one step on one file system
        with tempfile.TemporaryDirectory(dir=data, prefix=".fetch-") as temporary:
            folder = Path(temporary) / "files"
            folder.mkdir()
            try:
                if source is None:
                    for archive in dataset.archives:
                        packed = _download(dataset, archive, Path(temporary), progress)
                        _unpack(dataset, archive, packed, archive.files, folder)
                else:
                    _take_copies(dataset, source, folder)
                dataset.check(folder, counts=check)
            except (DataError, FormatError) as error:  # name the folder that the user knows
                raise DataError(str(error).replace(str(folder), str(source or data))) from error
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                final = data / path.relative_to(folder)
                final.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, final)
                placed.append(final)
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"{error.filename or data}: {reason}; nothing was put in place") from error
    log.info("%s: %d files in %s", dataset.name, len(placed), data)
    return placed


class _Bar:
    """A progress bar for pooch, with the methods of tqdm, that calls a function."""

    total = 0
    done = 0

    def __init__(self, name: str, progress: Progress) -> None:
        self.name, self.progress = name, progress

    def update(self, size: int) -> None:
        self.done += size  # in whole chunks, so that it may exceed the total
        self.progress(self.name, min(self.done, self.total or self.done), self.total or None)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass


def _download(dataset: Dataset, archive: Archive, folder: Path, progress: Progress | None) -> Path:
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")  # it writes to the terminal; bough only logs
    name, known = archive.name, archive.sha256
    bar = False if progress is None else _Bar(name, progress)
    fetcher = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=TIMEOUT)
    try:
        return Path(pooch.retrieve(archive.url, known, fname=name, path=folder, downloader=fetcher))
    except requests.HTTPError as error:
        answer = error.response
        status = "it failed" if answer is None else f"{answer.status_code} {answer.reason}"
        reason = f"the server says {status}"
    except requests.Timeout:
        reason = "no answer in time"
    except requests.RequestException as error:
        cause = error.args[0] if error.args else type(error).__name__
        reason = str(getattr(cause, "reason", cause)).rsplit(": ", 1)[-1]  # the last in a chain of causes
    except ValueError:  # pooch's error for a wrong hash; it has removed the file
        reason = f"its sha256 is not the known {archive.sha256}; the file was not kept"
    by_hand = f"`{dataset.command} {dataset.name} --from DIR`"
    raise DataError(f"{archive.url}: {reason}; or get it by hand and run {by_hand}")


def _take_copies(dataset: Dataset, source: Path, folder: Path) -> None:
    if not source.is_dir():
        raise DataError(f"{source}: no such folder")
    if dataset.loose:
        places = [Path(place) for archive in dataset.archives for place in archive.files.values()]
        roots = (source, *(source / name for name in dataset.loose))
        copies = [(root / place.name, place) for place in places for root in roots]
    else:
        copies = [(path, path.relative_to(source)) for path in (source / dataset.name).rglob("*")]
    for path, place in copies:
        if path.is_file():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / place)
    for archive in dataset.archives:
        absent = {name: place for name, place in archive.files.items() if not (folder / place).exists()}
        missing = [place for name, place in absent.items() if name not in archive.optional]
        packed = source / archive.name
        if not missing:
            continue
        if not packed.is_file():
            raise DataError(f"{source}: neither {', '.join(missing)} nor {archive.name} in it")
        if archive.sha256 is not None and sha256(packed) != archive.sha256:
            known = f"its sha256 is not the known {archive.sha256}"
            raise DataError(f"{packed}: {known}; nothing was taken from it")
        _unpack(dataset, archive, packed, absent, folder)


def _unpack(dataset: Dataset, archive: Archive, packed: Path, files: Mapping[str, str], folder: Path) -> None:
    """Extract the members in `files` below `folder`. Raise a DataError for a damaged archive."""
    damage = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, KeyError, RuntimeError, OSError)
    try:
        with tarfile.open(packed) if ".tar" in packed.suffixes else zipfile.ZipFile(packed) as opened:
            names = opened.getnames() if isinstance(opened, tarfile.TarFile) else opened.namelist()
            for name, place in files.items():
                member = next((one for one in names if f"/{one}".endswith(f"/{name}")), None)
                if member is None and name in archive.optional:
                    continue
                if member is None:
                    raise DataError(f"{packed.name}: no {name} in it; it is not the archive it should be")
                open_member = opened.open if isinstance(opened, zipfile.ZipFile) else opened.extractfile
                stream: IO[bytes] | None = open_member(member)
                if stream is None:
                    raise tarfile.TarError(f"{member} is not a file")
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                with stream, (folder / place).open("wb") as file:
                    shutil.copyfileobj(stream, file, 1 << 20)
    except damage as error:
        # an error of the disk; errors of bz2 have no errno
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{packed.name}: a damaged archive ({error}); fetch it again") from error
    for place, known in archive.digests.items():
        if place in files.values() and (found := sha256(folder / place)) != known:
            reason = f"{Path(place).name} in it has the sha256 {found}, not the known {known}"
            way = f"unpack it into DIR/{dataset.name} and run `{dataset.command} {dataset.name} --from DIR`"
            raise DataError(f"{packed.name}: {reason}; nothing was taken from it. If you trust it, {way}")
