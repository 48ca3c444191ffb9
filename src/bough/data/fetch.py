"""Download data sets from their official places, or take local copies of them, into the data folder.

Everything is gathered and checked in a folder of its own inside the data folder and moved to its place file by file at
the end. So a final name never holds half a file, and a failed fetch changes nothing.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bough.data.checksums import sha256
from bough.data.download import Progress, download
from bough.data.glove import KNOWN_LINES, GloveFile
from bough.data.paths import check_count
from bough.data.unpack import unpack
from bough.errors import DataError, FormatError

log = logging.getLogger(__name__)

Check = Callable[
    [Path, bool, bool, Progress | None], None
]  # folder, whether downloaded, whether to count, progress
WORKSHOP = ".fetch"  # inside the data folder, so that moving into place is one step on one file system


@dataclass(frozen=True)
class Archive:
    """A zip or tar file on the net: its files, by the end of their path, and their places in the layout.

    Either the archive has a known `sha256`, or every file in it has one in `digests`, by its place.
    """

    url: str
    files: Mapping[str, str]
    sha256: str | None = None
    optional: frozenset[str] = frozenset()  # files to do without where they are absent
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The archive's own file name."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Dataset:
    """The archives of a data set, and how to check what was unpacked.

    `check(folder, downloaded, counts, progress)` raises a DataError or FormatError if the files in `folder` are wrong.
    Local copies lie in a folder of the data set's name. With `loose`, single files are also found in the folder that
    the user names, and in its subfolders of these names.
    """

    name: str
    archives: Sequence[Archive]
    check: Check
    loose: tuple[str, ...] = ()
    command: str = "python -m paper fetch"  # what fetches it, for messages


def _check_glove(folder: Path, downloaded: bool, counts: bool, progress: Progress | None) -> None:
    for path in sorted((folder / "glove").iterdir()):
        step = None if progress is None else partial(progress, f"checking {path.name}")
        lines = GloveFile(path).count(step)
        known = KNOWN_LINES.get(path.stem)
        if counts and downloaded and known is not None:  # a local copy may well be a part of the set
            check_count(path, lines, known, "vectors")


def _glove(archive: str, text: str, digest: str) -> Dataset:
    packed = Archive(f"https://nlp.stanford.edu/data/{archive}", {text: f"glove/{text}"}, digest)
    return Dataset("glove", (packed,), _check_glove, loose=("glove",), command="bough fetch")


GLOVE = {
    "840B": _glove(
        "glove.840B.300d.zip",
        "glove.840B.300d.txt",
        "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f",
    ),
    "42B": _glove(
        "glove.42B.300d.zip",
        "glove.42B.300d.txt",
        "03d5d7fa28e58762ace4b85fb71fe86a345ef0b5ff39f5390c14869da0fc1970",
    ),
    "6B": _glove(
        "glove.6B.zip",
        "glove.6B.300d.txt",
        "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
    ),
}


def fetch(
    dataset: Dataset,
    data: Path,
    *,
    source: Path | None = None,
    check: bool = True,
    progress: Progress | None = None,
) -> list[Path]:
    """Bring a data set into the folder `data`, and return the files that are now in place.

    Args:
        dataset: what to fetch.
        data: the data folder.
        source: a folder with local copies, in the layout of the data folder or as official archives; None downloads.
        check: whether to count trees, pairs, vectors or synsets.
        progress: called with a name, how much is done, and of how much.
    """
    wanted = dataset.archives
    workshop = data / WORKSHOP
    try:
        workshop.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=workshop, prefix=f"{dataset.name}-") as name:
            folder = Path(name)
            try:
                if source is None:
                    _from_net(dataset, workshop, folder, progress)
                else:
                    _from_copies(dataset, source, folder, progress)
                dataset.check(folder, source is None, check, progress)
            except (DataError, FormatError) as error:  # say it of the place the user knows
                raise DataError(str(error).replace(str(folder), str(source or data))) from error
            placed = _place(folder, data)
        for archive in wanted:
            (workshop / archive.name).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"{error.filename or data}: {error.strerror or error}; nothing was put in place"
        ) from error
    finally:
        _tidy(workshop, wanted)
    log.info("%s: %d files in %s", dataset.name, len(placed), data)
    return placed


def _from_net(dataset: Dataset, workshop: Path, folder: Path, progress: Progress | None) -> None:
    for archive in dataset.archives:
        try:
            packed = download(archive.url, workshop, sha256=archive.sha256, progress=progress)
        except DataError as error:
            raise DataError(
                f"{error}; or get it by hand and run `{dataset.command} {dataset.name} --from DIR`"
            ) from error
        _unpack(dataset, archive, packed, archive.files, folder, progress)


def _from_copies(dataset: Dataset, source: Path, folder: Path, progress: Progress | None) -> None:
    if not source.is_dir():
        raise DataError(f"--from {source}: no such folder")
    for path, place in _copies(dataset, source).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / place)
    for archive in dataset.archives:
        absent = {name: place for name, place in archive.files.items() if not (folder / place).exists()}
        missing = {name: place for name, place in absent.items() if name not in archive.optional}
        packed = source / archive.name
        if missing and not packed.is_file():
            raise DataError(
                f"--from {source}: neither {', '.join(missing.values())} nor {archive.name} in it"
            )
        if missing:
            if archive.sha256 is not None and sha256(packed) != archive.sha256:
                raise DataError(
                    f"{packed}: its sha256 is not the known {archive.sha256}; nothing was taken from it"
                )
            _unpack(dataset, archive, packed, absent, folder, progress)


def _unpack(
    dataset: Dataset,
    archive: Archive,
    packed: Path,
    files: Mapping[str, str],
    folder: Path,
    progress: Progress | None,
) -> None:
    for path in unpack(packed, files, folder, optional=archive.optional, progress=progress):
        known = archive.digests.get(path.relative_to(folder).as_posix())
        if known is not None and (found := sha256(path)) != known:
            raise DataError(
                f"{packed.name}: {path.name} in it has the sha256 {found}, not the known {known}; nothing was taken "
                f"from it. If you trust it, unpack it into DIR/{dataset.name} and run "
                f"`{dataset.command} {dataset.name} --from DIR`"
            )


def _copies(dataset: Dataset, source: Path) -> dict[Path, Path]:
    """Return what `source` has of the layout, and where it goes."""
    if dataset.loose:
        places = [Path(place) for archive in dataset.archives for place in archive.files.values()]
        roots = (source, *(source / name for name in dataset.loose))
        found = ((root / place.name, place) for place in places for root in roots)
        return {path: place for path, place in found if path.is_file()}
    paths = sorted(path for path in (source / dataset.name).rglob("*") if path.is_file())
    return {path: path.relative_to(source) for path in paths}


def _place(folder: Path, data: Path) -> list[Path]:
    placed = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        final = data / path.relative_to(folder)
        final.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, final)
        placed.append(final)
    return placed


def _tidy(workshop: Path, archives: Sequence[Archive]) -> None:
    """Leave only what saves time next time: partial downloads, and archives that are known to be right."""
    if not workshop.is_dir():
        return
    for archive in archives:
        if archive.sha256 is None:
            (workshop / archive.name).unlink(missing_ok=True)
    if not any(workshop.iterdir()):
        workshop.rmdir()
