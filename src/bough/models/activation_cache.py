"""What the layers that never change make of each text, computed once and kept on disk in 16 bits."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.files import replacing
from bough.models.subwords import Ints

log = logging.getLogger(__name__)
Halves = NDArray[np.float16]
DIGEST = 16  # bytes


class Memory:
    """States (pieces, X) of texts, by their pieces, in the files of a folder, which several runs may share.

    A file is written whole, its index after it; a damaged one counts for nothing, and its texts are computed again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[bytes, tuple[Halves, int, int]] = {}
        self._read: set[str] = set()
        self.refresh()

    def __getstate__(self) -> Path:
        return self.folder  # a copy reads the same files

    def __setstate__(self, folder: Path) -> None:
        Memory.__init__(self, folder)

    def refresh(self) -> None:
        """Take note of what other runs have written since."""
        for index in sorted(self.folder.glob("*.index")):
            if index.name not in self._read:
                self._read.add(index.name)
                self._open(index)

    def _open(self, index: Path) -> None:
        try:
            with open(index, "rb") as file:
                digests, ends = np.load(file), np.load(file)
            states = np.load(index.with_suffix(".npy"), mmap_mode="r")
            if len(states) != ends[-1]:
                raise ValueError(f"{len(states)} rows, {ends[-1]} expected")
        except (OSError, ValueError, EOFError, IndexError) as error:
            log.warning("%s: damaged (%s); its texts are computed again", index, error)
            return
        starts = [0, *ends[:-1].tolist()]
        for digest, start, end in zip(digests, starts, ends.tolist(), strict=True):
            self._places[digest.tobytes()] = states, start, end

    def __contains__(self, window: Ints) -> bool:
        return digest_of(window) in self._places

    def get(self, window: Ints) -> Halves | None:
        """The states of a text's window, or None."""
        found = self._places.get(digest_of(window))
        return None if found is None else found[0][found[1] : found[2]]

    def add(self, windows: Sequence[Ints], states: Sequence[Halves]) -> None:
        """Keep some more."""
        digests = np.stack([np.frombuffer(digest_of(window), dtype=np.uint8) for window in windows])
        name = hashlib.sha256(digests.tobytes()).hexdigest()[:20]
        ends = np.cumsum([len(rows) for rows in states])
        self.folder.mkdir(parents=True, exist_ok=True)
        _save(self.folder / f"{name}.npy", np.concatenate(list(states)))
        _save(self.folder / f"{name}.index", digests, ends)
        self._read.discard(f"{name}.index")
        self.refresh()


def digest_of(window: Ints) -> bytes:
    """Of a window's pieces."""
    return hashlib.blake2b(window.tobytes(), digest_size=DIGEST).digest()


def _save(path: Path, *arrays: NDArray[Any]) -> None:
    with replacing(path) as temporary, open(temporary, "wb") as file:
        for array in arrays:
            np.save(file, array)
