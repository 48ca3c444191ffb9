"""Claims about the cache on disk: what one process has added, others find, and a kill loses nothing that was added."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bough.data.disk_cache import DiskCache


def test_what_another_process_added_is_found(tmp_path: Path) -> None:
    mine, theirs = (DiskCache(tmp_path / "cache.sqlite") for _ in range(2))
    assert mine.get(b"key") is None
    theirs.add([(b"key", b"value"), (b"other", b"")])
    assert (mine.get(b"key"), mine.get(b"other")) == (b"value", b"")
    assert pickle.loads(pickle.dumps(mine)).get(b"key") == b"value"


def test_a_kill_in_the_middle_adds_nothing_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    DiskCache(path).add([(b"before", b"1")])
    if (child := os.fork()) == 0:

        def items() -> Iterator[tuple[bytes, bytes]]:
            yield b"half", b"2"
            os.kill(os.getpid(), signal.SIGKILL)

        DiskCache(path).add(items())
    os.waitpid(child, 0)
    again = DiskCache(path)
    assert (again.get(b"before"), again.get(b"half")) == (b"1", None)


@pytest.mark.parametrize("content", [b"no database" * 99, b"SQLite format 3\0" + b"x" * 90])
def test_a_damaged_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(content)
    cache = DiskCache(path)
    cache.add([(b"key", b"value")])
    assert cache.get(b"key") == b"value"
