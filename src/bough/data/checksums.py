"""Which data was it: hashes for a run's record, and a quick identity for files of gigabytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

WHOLE = 64 << 20  # a file up to this size is hashed whole; a larger one by its ends
END = 1 << 20


def fingerprint(paths: Iterable[Path], *, data: Path | None = None) -> dict[str, str]:
    """One line of identity per file, for a run's record; a folder stands for all files in it.

    Files up to 64 MB get their `sha256:`; larger ones (GloVe) `ends:SIZE:`, the SHA-256 of the first and
    the last megabyte.

    Args:
        paths: files or folders.
        data: keys are relative to this folder where a file lies in it, so that two machines agree.

    Examples:
        >>> import bough.data, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("cats")
        >>> bough.data.fingerprint([folder], data=folder)["a.txt"][:15]
        'sha256:d936608b'
    """
    return {_key(path, data): _identity(path) for path in _files(paths)}


def ends_digest(path: Path) -> str:
    """SHA-256 over the first and the last megabyte."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        digest.update(file.read(END))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(END, size - END))  # a short file's bytes count once
        digest.update(file.read())
    return digest.hexdigest()


def text_digest(text: str) -> bytes:
    """Eight bytes that are always the same for a text, and by chance otherwise: for splits and draws."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def sha256(path: Path) -> str:
    """SHA-256 of the whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _identity(path: Path) -> str:
    size = path.stat().st_size
    return f"sha256:{sha256(path)}" if size <= WHOLE else f"ends:{size}:{ends_digest(path)}"


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(below for below in path.rglob("*") if below.is_file())
        else:
            yield path


def _key(path: Path, data: Path | None) -> str:
    if data is not None and path.is_relative_to(data):
        return path.relative_to(data).as_posix()
    return path.as_posix()
