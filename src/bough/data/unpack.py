"""Files out of a zip archive, into one folder and nowhere else."""

from __future__ import annotations

import shutil
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from bough.data.download import Progress
from bough.errors import DataError

CHUNK = 1 << 20


def unpack(
    archive: Path, files: Mapping[str, str], folder: Path, *, progress: Progress | None = None
) -> list[Path]:
    """Write the members of `archive` named in `files` to the places it gives them below `folder`.

    A member is found by the end of its path. An archive that names a place outside, an absolute path or a
    link is refused as a whole, before anything is written.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
            for member in members:
                _refuse_unsafe(member, archive)
            chosen = {place: _find(members, name, archive) for name, place in files.items()}
            _check_room(folder, sum(member.file_size for member in chosen.values()), archive)
            return [_extract(opened, member, folder / place, progress) for place, member in chosen.items()]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{archive.name}: a damaged archive ({error}); fetch it again") from error


def _refuse_unsafe(member: zipfile.ZipInfo, archive: Path) -> None:
    name = member.filename
    windows = PureWindowsPath(name)  # splits at both kinds of slash
    if windows.drive or windows.root or ".." in windows.parts:
        raise DataError(f"{archive.name}: {name!r} lies outside the folder; nothing was unpacked")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise DataError(f"{archive.name}: {name!r} is a link, not a file; nothing was unpacked")


def _find(members: list[zipfile.ZipInfo], name: str, archive: Path) -> zipfile.ZipInfo:
    wanted = PurePosixPath(name).parts
    for member in members:
        if PurePosixPath(member.filename).parts[-len(wanted) :] == wanted and not member.is_dir():
            return member
    raise DataError(f"{archive.name}: no {name} in it; it is not the archive it should be")


def _check_room(folder: Path, needed: int, archive: Path) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(f"{archive.name}: needs {needed:,} bytes unpacked, {folder} has {free:,} free")


def _extract(
    opened: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path, progress: Progress | None
) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    done = 0
    with opened.open(member) as packed, place.open("wb") as file:
        while chunk := packed.read(CHUNK):
            file.write(chunk)
            done += len(chunk)
            if progress is not None:
                progress(place.name, done, member.file_size)
    return place
