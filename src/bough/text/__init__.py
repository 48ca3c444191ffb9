"""Parse tokens: one protocol, the built-in parser, balanced trees, and adapters for spaCy, stanza and CoreNLP."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bough.trees.tree import Tree

BUILTIN = Path(__file__).resolve().parents[1] / "pretrained" / "parser"
NAMES = ("builtin", "spacy", "stanza", "corenlp", "balanced")
CORENLP_URL = "http://localhost:9000"


class Parser(Protocol):
    """Anything that parses sentences given as lists of tokens.

    Examples:
        >>> from bough.text import get_parser
        >>> parser = get_parser("builtin")
        >>> parser.dependency([["dogs", "sleep"]])
        [Tree((sleep dogs), 2 nodes)]
    """

    @property
    def name(self) -> str:
        """Return the name of the parser."""
        ...

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one binary tree per sentence: words at the leaves, nodes numbered in preorder."""
        ...

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one tree of Stanford Dependencies per sentence: node i is word i."""
        ...


def get_parser(name: str = "builtin") -> Parser:
    """Return the parser with this name, and import the library that it needs.

    Args:
        name: `builtin`, or the folder of a trained one; `spacy` or `spacy:PIPELINE`; `stanza`;
            `corenlp` or `corenlp:URL` for a CoreNLP server; `balanced` for balanced trees over the
            words of any language.

    Examples:
        >>> from bough.text import get_parser
        >>> get_parser("builtin").constituency([["cats", "climb", "trees"]])
        [Tree((· cats (· climb trees)), 5 nodes)]
    """
    kind, _, detail = name.partition(":")
    if kind == "spacy":
        from bough.text.spacy import SpacyParser

        return SpacyParser(detail or None)
    if kind == "corenlp":
        from bough.text.corenlp import CoreNLPParser

        return CoreNLPParser(detail or CORENLP_URL)
    if name == "stanza":
        from bough.text.stanza import StanzaParser

        return StanzaParser()
    if name == "balanced":
        from bough.text.balanced import BalancedParser

        return BalancedParser()
    if name == "builtin" or Path(name).is_dir():
        from bough.text.builtin.parser import BuiltinParser

        return BuiltinParser.load(BUILTIN if name == "builtin" else name)
    raise ValueError(f"no parser {name!r}; there are {', '.join(NAMES)}, and any folder of a trained one")
