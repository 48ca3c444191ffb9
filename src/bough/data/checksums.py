"""Hashes that tell which data a run used, and a quick one for files of gigabytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

WHOLE = 64 << 20  # a file up to this size is hashed whole; a larger one by its ends
END = 1 << 20


def fingerprint(paths: Iterable[Path], *, data: Path | None = None) -> dict[str, str]:
    """Return a hash per file, for a run's record; a folder stands for all files in it.

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
    found = {}
    for given in paths:
        below = sorted(path for path in given.rglob("*") if path.is_file()) if given.is_dir() else [given]
        for path in below:
            key = path.relative_to(data) if data and path.is_relative_to(data) else path
            size = path.stat().st_size
            identity = f"sha256:{sha256(path)}" if size <= WHOLE else f"ends:{size}:{ends_digest(path)}"
            found[key.as_posix()] = identity
    return found


def ends_digest(path: Path) -> str:
    """Return the SHA-256 of the first and the last megabyte."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        digest.update(file.read(END))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(END, size - END))  # a short file's bytes count once
        digest.update(file.read())
    return digest.hexdigest()


def text_digest(text: str) -> bytes:
    """Return eight bytes that depend on the text alone, for splits and draws that never change."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def sha256(path: Path) -> str:
    """Return the SHA-256 of the whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
