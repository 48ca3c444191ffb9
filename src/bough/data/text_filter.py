"""Remember which texts a model was trained on, in a small file without the texts: a Bloom filter."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from bough.errors import FormatError
from bough.files import read_tensors, write_tensors

FILE = "train_texts.safetensors"  # in a model folder
TENSOR = "bloom_filter"
BITS = 23  # per text
HASHES = 16  # BITS * ln 2: then two in 100,000 other texts are taken for one of those texts


def without_spaces(text: str) -> str:
    """Return a text without white space: "murder ." and "murder." are the same text."""
    return "".join(text.split())


@dataclass(frozen=True)
class TextFilter:
    """A set of texts as a Bloom filter: texts of the set are always in it, other texts almost never.

    White space and case are ignored.

    Shape: bits (B,) uint8, eight bits each.
    """

    bits: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextFilter:
        """Return the filter of some texts."""
        hashes = _hashes({_normalised(text) for text in texts})
        bits = np.zeros(-(-BITS * len(hashes) // 8), dtype=np.uint8)
        for positions in _positions(hashes, 8 * len(bits)):
            np.bitwise_or.at(bits, positions // 8, _bit(positions))
        return cls(bits)

    @classmethod
    def load(cls, folder: Path | str) -> TextFilter | None:
        """Return the filter in a model folder, or None if it has none. Raise a FormatError if it is damaged."""
        path = Path(folder) / FILE
        if not path.is_file():
            return None
        bits = read_tensors(path).get(TENSOR)
        if bits is None or bits.dtype != torch.uint8 or bits.dim() != 1:
            raise FormatError(f"no tensor {TENSOR!r} of bytes", where=str(path))
        return cls(bits.numpy())

    def save(self, folder: Path | str) -> None:
        """Write the filter into a model folder."""
        write_tensors(Path(folder) / FILE, {TENSOR: torch.from_numpy(self.bits)})

    def contains(self, texts: Iterable[str]) -> NDArray[np.bool_]:
        """Return (n,) whether each text is in the set. A text without characters is in no set."""
        keys = [_normalised(text) for text in texts]
        inside = np.array([bool(key) and len(self.bits) > 0 for key in keys], dtype=bool)
        if inside.any():
            for positions in _positions(_hashes(keys), 8 * len(self.bits)):
                inside &= (self.bits[positions // 8] & _bit(positions)) != 0
        return inside


def _normalised(text: str) -> str:
    return without_spaces(text).casefold()


def _hashes(keys: Iterable[str]) -> NDArray[np.uint64]:
    """Return (n, 2) hashes of 64 bits."""
    digests = (hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest() for key in keys)
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)


def _positions(hashes: NDArray[np.uint64], bits: int) -> Iterable[NDArray[np.int64]]:
    """Yield, for each hash function, the position (n,) of each text among the bits (Kirsch and Mitzenmacher, 2006)."""
    first, second = hashes.T
    for number in range(HASHES):
        yield ((first + np.uint64(number) * second) % np.uint64(bits)).astype(np.int64)


def _bit(positions: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return (n,) the bytes with the bit of each position set."""
    return np.left_shift(1, positions % 8).astype(np.uint8)
