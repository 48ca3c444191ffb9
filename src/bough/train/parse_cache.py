"""Parses kept by content: one file for each data set, parser and kind of tree, appended to and safe against a kill."""

from __future__ import annotations

import glob
import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from bough.data import fingerprint, user_cache
from bough.pipelines.readers import Reader
from bough.trees.tree import Tree
from bough.version import __version__

_KEY = 32  # letters of a text's digest


class Parses:
    """The trees of texts, from the file where it has them, else from the parser, and then in the file too.

    A line is a text's digest and its tree. What a kill left of a last line is cut off; a line that is damaged
    otherwise counts for nothing. Only the digests and where their lines begin are held in memory.

    Others may write at the same time, each to a file of its own, `path` with another number; all are read.
    """

    def __init__(self, path: Path, reader: Reader, number: int = 0) -> None:
        self.reader = reader
        self.path = _numbered(path, number)
        self.parsed = 0  # texts that had to be
        self.places: dict[bytes, tuple[BinaryIO, int]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._others = [other.open("rb") for other in _beside(path) if other != self.path]
        for file in self._others:
            self._index(file)
        self._file: BinaryIO = self.path.open("a+b")
        self._file.truncate(self._index(self._file))

    def _index(self, file: BinaryIO) -> int:
        """Note what a file has; where its last whole line ends."""
        file.seek(0)
        end = 0
        for line in file:
            if not line.endswith(b"\n"):
                break
            if line[_KEY : _KEY + 1] == b"\t":
                key = bytes.fromhex(line[:_KEY].decode("ascii", "replace").replace("\ufffd", "0"))
                self.places[key] = file, end
            end += len(line)
        return end

    def __enter__(self) -> Parses:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._file, *self._others):
            file.close()

    def trees(self, texts: Sequence[str]) -> list[Tree | None]:
        """One tree per text; None for a text without a word."""
        keys = [
            blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY // 2).digest() for text in texts
        ]
        known = {key: self._read(key) for key in keys if key in self.places}
        new = {key: text for key, text in zip(keys, texts, strict=True) if known.get(key) is None}
        found: dict[bytes, Tree | None] = {}
        if new:
            reads = self.reader.read_any(list(new.values()))
            found = {key: read[0].tree if read else None for key, read in zip(new, reads, strict=True)}
            self._append({key: tree for key, tree in found.items() if tree is not None})
            self.parsed += len(new)
        return [found[key] if key in found else known[key] for key in keys]

    def _read(self, key: bytes) -> Tree | None:
        file, place = self.places[key]
        file.seek(place)
        try:
            line = file.readline()
            if line[:_KEY] != key.hex().encode():  # another process has written here
                return None
            parents, tokens, relations = json.loads(line[_KEY + 1 :])
            return Tree(parents, tokens=tokens, relations=relations)
        except (ValueError, TypeError):
            return None

    def _append(self, trees: dict[bytes, Tree]) -> None:
        lines = []
        end = self._file.seek(0, 2)
        for key, tree in trees.items():
            columns = [tree.parents.tolist(), tree.tokens, tree.relations]
            lines.append(f"{key.hex()}\t{json.dumps(columns)}\n".encode())
            self.places[key] = self._file, end
            end += len(lines[-1])
        self._file.write(b"".join(lines))
        self._file.flush()


def _numbered(path: Path, number: int) -> Path:
    return path.with_suffix(f".{number}{path.suffix}") if number else path


def _beside(path: Path) -> list[Path]:
    """All files of one set of parses."""
    return sorted(
        other
        for other in path.parent.glob(f"{glob.escape(path.stem)}*{path.suffix}")
        if other == path or other.stem.removeprefix(f"{path.stem}.").isdecimal()
    )


def parses_for(name: str, identity: str, parser: str, trees: str, reader: Reader, number: int = 0) -> Parses:
    """The parses of one data set: `identity` is its path, or a digest of what is in it.

    `parser` is a name; of a folder the weights count too.
    """
    weights = sorted(fingerprint([Path(parser)]).values()) if Path(parser).is_dir() else []
    content = json.dumps([__version__, identity, parser, weights, trees])
    code = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:60]
    return Parses(user_cache() / "parses" / f"{safe}-{code}.jsonl", reader, number)
