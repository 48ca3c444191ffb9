"""Files wherever Ray reads them: this machine's folders, or a URI that pyarrow or fsspec knows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from bough.errors import FormatError
from bough.files import is_torn, remove_torn, replacing


@dataclass(frozen=True)
class File:
    """A file to be read: what it is called in results, and its size and time of change, which tell it from another."""

    name: str
    size: int
    changed: int

    @property
    def place(self) -> str:
        """Where it is, for a process with another working folder."""
        return self.name if "://" in self.name else os.path.abspath(self.name)


def own_folder(name: str, known: Sequence[str]) -> Path | None:
    """Of a model or parser of one's own; a name that bough knows is never one, as in `bough.load`."""
    own = name.partition(":")[0] not in known and Path(name).is_dir()
    return Path(name).absolute() if own else None


def own_place(name: str, known: Sequence[str]) -> str:
    """A name that bough knows, or where the folder is, for a process with another working folder."""
    return str(own_folder(name, known) or name)


def parted(place: str) -> tuple[str, str]:
    """A place, and what a URI says of its filesystem behind it, from the question mark on."""
    if "://" not in place:
        return place, ""
    path, mark, options = place.partition("?")
    return path, mark + options


def inside(folder: str, name: str) -> str:
    """The place of a file in a folder."""
    path, options = parted(folder)
    return f"{path.rstrip('/')}/{name}{options}"


def suffix(place: str) -> str:
    """How its name ends, in small letters."""
    return PurePosixPath(parted(place)[0]).suffix.lower()


def split(place: str) -> tuple[Any, str]:
    """The filesystem of a path or URI, and the path within it."""
    from pyarrow import ArrowInvalid, fs

    if "://" not in place:
        return fs.LocalFileSystem(), os.path.abspath(place)
    try:
        system, path = fs.FileSystem.from_uri(place)
    except ArrowInvalid:
        system, path = _by_fsspec(place)
    except OSError as error:
        raise ValueError(f"{place} cannot be reached: {' '.join(str(error).split())[:200]}") from None
    return system, path


def _by_fsspec(place: str) -> tuple[Any, str]:
    from pyarrow import fs

    try:
        import fsspec

        system, path = fsspec.core.url_to_fs(place)
    except (ImportError, ValueError) as error:
        raise ValueError(f"{place}: {' '.join(str(error).split())[:200]}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def find(source: str) -> list[File]:
    """The files that a path, a folder or a glob stands for, by name; a FormatError if there is none."""
    from pyarrow import fs

    whole, options = parted(source)
    wild = re.search(r"[*?]", whole)
    root = whole
    if wild:
        root = whole[: wild.start()].rpartition("/")[0] or ("/" if whole.startswith("/") else ".")
    system, path = split(root + options)
    info = system.get_file_info(path)
    if info.type == fs.FileType.Directory:
        found = system.get_file_info(fs.FileSelector(path, recursive=True))
    else:
        found = [info]
    coded = "://" in root and not isinstance(system, fs.PyFileSystem)  # fsspec takes a URI as it stands
    files = [
        File(
            _tidy(root.rstrip("/") + _coded(one.path[len(path) :], coded)) + options,
            one.size,
            one.mtime_ns or 0,
        )
        for one in found
        if one.type == fs.FileType.File and not _hidden(one.path[len(path) :])
    ]
    if wild:
        wanted = re.compile(_pattern(_tidy(whole), coded))
        names = {file: parted(file.name)[0] for file in files}
        files = [file for file in files if wanted.fullmatch(unquote(names[file]) if coded else names[file])]
    if not files:
        nothing = "no file matches" if wild else "no file in this folder"
        raise FormatError(
            "there is no such file" if info.type == fs.FileType.NotFound else nothing, where=source
        )
    return sorted(files, key=lambda file: file.name)


def _tidy(place: str) -> str:
    return place if "://" in place else os.path.normpath(place)


def _hidden(path: str) -> bool:
    return any(part.startswith((".", "_")) for part in path.split("/"))


def _coded(path: str, coded: bool) -> str:
    """As it stands in a URI: a space is %20, and %20 is %2520."""
    return quote(path, safe="/=:,+@&") if coded else path


def _pattern(glob: str, coded: bool) -> str:
    parts = re.split(r"(\*\*/?|\*|\?)", glob)
    wild = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return "".join(wild.get(part) or re.escape(unquote(part) if coded else part) for part in parts)


def write(place: str, content: bytes) -> None:
    """Whole or not at all: on this machine by a rename; a store of objects shows one when it is closed."""
    from pyarrow import fs

    system, path = split(place)
    if isinstance(system, fs.LocalFileSystem):
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(content)
        return
    with system.open_output_stream(path) as stream:
        stream.write(content)


def names_in(folder: str) -> set[str]:
    """What lies in a folder that may not be there yet, but for what a kill left of files that were being written."""
    from pyarrow import fs

    system, path = split(folder)
    found = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
    return {info.base_name for info in found if not is_torn(info.base_name)}


def clear_torn(folder: str) -> None:
    """Remove what a kill left there, once nobody is writing any more; a store of objects keeps nothing of the kind."""
    from pyarrow import fs

    system, path = split(folder)
    if isinstance(system, fs.LocalFileSystem):
        remove_torn(Path(path))


def read(place: str) -> bytes:
    """A whole small file."""
    system, path = split(place)
    with system.open_input_stream(path, compression=None) as stream:
        content: bytes = stream.read()
    return content
