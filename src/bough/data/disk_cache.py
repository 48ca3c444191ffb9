"""A cache on disk: a SQLite file of keys and values, which several processes may share."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Iterable
from pathlib import Path

log = logging.getLogger(__name__)


class DiskCache:
    """A mapping from bytes to bytes in a file. An interrupted write changes nothing.

    A damaged file is replaced by an empty one, because its contents can be computed again. Raise an
    OSError if the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = self._open()
        except sqlite3.OperationalError as error:  # the file cannot be written
            raise OSError(f"{path}: {error}") from None
        except sqlite3.DatabaseError as error:
            log.warning("%s: damaged (%s); it is made anew", path, error)
            path.unlink()
            self._database = self._open()

    def _open(self) -> sqlite3.Connection:
        # wait up to ten minutes for another process; SQLite makes a connection safe to share between threads
        database = sqlite3.connect(self.path, timeout=600, check_same_thread=False)
        database.execute("CREATE TABLE IF NOT EXISTS cache (key BLOB PRIMARY KEY, value BLOB)")
        (page,) = database.execute("PRAGMA page_size").fetchone()
        if self.path.stat().st_size % page:  # SQLite would silently fill up the last page
            raise sqlite3.DatabaseError("truncated")
        return database

    def __reduce__(self) -> tuple[type[DiskCache], tuple[Path]]:
        return DiskCache, (self.path,)  # a copy opens the same file

    def __enter__(self) -> DiskCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, or None."""
        found = self._database.execute("SELECT value FROM cache WHERE key = ?", (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def add(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store keys and values in one transaction."""
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO cache VALUES (?, ?)", items)
        except sqlite3.OperationalError as error:  # for example, the disk is full
            raise OSError(f"{self.path}: {error}") from None


def cache_key(content: bytes) -> bytes:
    """Return a hash of some content, as its key."""
    return hashlib.blake2b(content, digest_size=16).digest()
