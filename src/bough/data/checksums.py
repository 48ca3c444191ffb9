"""Hashes that identify the data of a run."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from bough.files import sha256 as sha256

WHOLE = 64 << 20  # of a larger file, only the first and the last megabyte are hashed
END = 1 << 20


def fingerprint(paths: Iterable[Path], *, data: Path | None = None) -> dict[str, str]:
    """Return a hash of each file, and of each file in a folder, by its path.

    The hash is `sha256:...` up to 64 MB. For larger files (GloVe) it is `ends:SIZE:...`, with the
    SHA-256 of the first and the last megabyte.

    Args:
        paths: files or folders.
        data: paths in this folder are relative to it, so that they are the same on all machines.

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
    """Return a hash of eight bytes of a text, for splits and random choices that never change."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
