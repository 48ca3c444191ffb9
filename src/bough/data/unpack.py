"""Files out of a zip or tar archive, into one folder and nowhere else."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, NamedTuple

from bough.data.download import Progress
from bough.errors import DataError

CHUNK = 1 << 20
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, RuntimeError)


class Member(NamedTuple):
    """A file in an archive."""

    name: str
    size: int
    link: bool
    open: Callable[[], IO[bytes] | None]


def unpack(
    archive: Path,
    files: Mapping[str, str],
    folder: Path,
    *,
    optional: Collection[str] = (),
    progress: Progress | None = None,
) -> list[Path]:
    """Write the members of `archive` named in `files` to the places it gives them below `folder`.

    A member is found by the end of its path; those in `optional` may be absent. An archive that names a place
    outside, an absolute path or a link is refused as a whole, before anything is written.
    """
    try:
        with _opened(archive) as members:
            for member in members:
                _refuse_unsafe(member, archive)
            found = {name: _find(members, name) for name in files}
            for name, known in found.items():
                if known is None and name not in optional:
                    raise DataError(f"{archive.name}: no {name} in it; it is not the archive it should be")
            chosen = {files[name]: known for name, known in found.items() if known is not None}
            _check_room(folder, sum(member.size for member in chosen.values()), archive)
            return [_extract(member, folder / place, progress) for place, member in chosen.items()]
    except (*DAMAGE, OSError) as error:
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # the disk's fault; bz2's own has no number
            raise
        raise DataError(f"{archive.name}: a damaged archive ({error}); fetch it again") from error


@contextmanager
def _opened(archive: Path) -> Iterator[list[Member]]:
    if ".tar" in archive.suffixes:
        with tarfile.open(archive) as tar:
            yield [
                Member(info.name, info.size, info.issym() or info.islnk(), partial(tar.extractfile, info))
                for info in tar
                if not info.isdir()
            ]
    else:
        with zipfile.ZipFile(archive) as packed:
            yield [
                Member(info.filename, info.file_size, _is_link(info), partial(packed.open, info))
                for info in packed.infolist()
                if not info.is_dir()
            ]


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _refuse_unsafe(member: Member, archive: Path) -> None:
    windows = PureWindowsPath(member.name)  # splits at both kinds of slash
    if windows.drive or windows.root or ".." in windows.parts:
        raise DataError(f"{archive.name}: {member.name!r} lies outside the folder; nothing was unpacked")
    if member.link:
        raise DataError(f"{archive.name}: {member.name!r} is a link, not a file; nothing was unpacked")


def _find(members: list[Member], name: str) -> Member | None:
    wanted = PurePosixPath(name).parts
    return next((m for m in members if PurePosixPath(m.name).parts[-len(wanted) :] == wanted), None)


def _check_room(folder: Path, needed: int, archive: Path) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(f"{archive.name}: needs {needed:,} bytes unpacked, {folder} has {free:,} free")


def _extract(member: Member, place: Path, progress: Progress | None) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    done = 0
    packed = member.open()
    assert packed is not None  # neither a folder nor a link
    with packed, place.open("wb") as file:
        while chunk := packed.read(CHUNK):
            file.write(chunk)
            done += len(chunk)
            if progress is not None:
                progress(place.name, done, member.size)
    return place
