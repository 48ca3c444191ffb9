"""A cache of parses on disk: each parser parses a text once, even if several data sets contain it."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bough.data import fingerprint, user_cache
from bough.data.disk_cache import DiskCache, cache_key
from bough.data.examples import Example
from bough.pipelines.readers import Kind, WholeReader
from bough.text import Parser
from bough.trees.tree import Tree
from bough.version import __version__


class ParseCache:
    """The trees of texts. Trees that are not in the cache come from the reader, and are added to the cache."""

    def __init__(self, cache: DiskCache, reader: WholeReader) -> None:
        self.cache, self.reader = cache, reader
        self.parsed = 0  # texts that were not in the cache

    def trees(self, texts: Sequence[str]) -> list[Tree | None]:
        """Return one tree per text; None for a text without a word."""
        keys = [cache_key(text.encode("utf-8", "surrogatepass")) for text in texts]
        stored = {key: self.cache.get(key) for key in keys}
        found = {key: _read(content) for key, content in stored.items() if content is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if new:
            reads = self.reader.read(list(new.values()), allow_empty=True)
            found |= {key: read[0].tree if read else None for key, read in zip(new, reads, strict=True)}
            self.cache.add((key, _written(found[key])) for key in new)
            self.parsed += len(new)
        return [found[key] for key in keys]

    def pairs(self, examples: Sequence[Example]) -> list[tuple[Tree, ...] | None]:
        """Return the tree of each example, or its two trees for a pair; None if one of its texts has no word."""
        trees = iter(self.trees([text for example in examples for text in example.texts]))
        both = [[next(trees) for _ in example.texts] for example in examples]
        return [tuple(tree for tree in some if tree is not None) if all(some) else None for some in both]


def _written(tree: Tree | None) -> bytes:
    columns = None if tree is None else [tree.parents.tolist(), tree.tokens, tree.relations]
    return json.dumps(columns).encode()


def _read(content: bytes) -> Tree | None:
    columns = json.loads(content)
    return None if columns is None else Tree(columns[0], tokens=columns[1], relations=columns[2])


@contextlib.contextmanager
def open_parse_cache(parser: str | Parser, kind: Kind, trees: str) -> Iterator[ParseCache]:
    """Open the cache of a parser; its name depends on the parser's name and, for a folder, on its weights.

    Args:
        parser: a name that `bough.text.get_parser` knows, or a parser. The cache of a parser object is deleted when it
            is closed, because the object does not identify the parser in another process.
        kind: the kind of trees.
        trees: a value of `OutputSpec.trees`; "chain" for words without a parser.
    """
    reader = WholeReader(parser, kind, chain=trees == "chain")
    if not isinstance(parser, str):
        temporary = tempfile.TemporaryDirectory(prefix="bough-parses-")
        with temporary as folder, DiskCache(Path(folder) / "parses.sqlite") as cache:
            yield ParseCache(cache, reader)
        return
    weights = sorted(fingerprint([Path(parser)]).values()) if Path(parser).is_dir() else []
    code = cache_key(json.dumps([__version__, parser, weights, trees, kind]).encode()).hex()[:16]
    name = "".join(letter if letter.isalnum() else "_" for letter in Path(parser).name)[:40]
    with DiskCache(user_cache() / "parses" / f"{name}-{code}.sqlite") as cache:
        yield ParseCache(cache, reader)
