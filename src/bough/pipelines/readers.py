"""Readers for which a text is one tree, whatever number of sentences it has, and for trees without a text."""

from __future__ import annotations

from collections.abc import Sequence

from bough.models.model import Model
from bough.pipelines.reading import Cut, Kind, Parse, Read, Reader
from bough.text import Parser
from bough.text.join_sentences import in_a_row, joined
from bough.text.tokenise import Token
from bough.trees.tree import Tree


def reader_for(model: Model, parser: str | Parser) -> Reader:
    """What gives a model of texts the trees it learned from."""
    if model.config.shape == "balanced":
        raise ValueError("shape = 'balanced' is a control without a parse: its model has no phrases to show")
    reads = model.config.kind.reads
    usual: Kind = "dependency" if model.config.of_pairs else "constituency"
    kind: Kind = usual if reads == "words" else reads
    trees = model.purpose.trees
    if trees == "given":
        return GivenReader(kind)
    if trees in ("whole", "chain"):
        return WholeReader(parser, kind, chain=trees == "chain")
    return Reader(parser, kind, split=trees == "sentences")


class WholeReader(Reader):
    """One tree for each text: those of its sentences joined, or with `chain` its words in a row, unparsed."""

    def __init__(self, parser: str | Parser, kind: Kind, *, chain: bool = False) -> None:
        super().__init__(parser, kind, split=True)
        self.chain = chain

    def parsed(self, cut: Cut, parse: Parse | None = None) -> list[list[Read]]:
        if self.chain:
            flat = [[token for sentence in text for token in sentence] for text in cut]
            return [[Read(text, in_a_row([t.text for t in text]))] if text else [] for text in flat]
        return [[self._whole(sentences)] if sentences else [] for sentences in super().parsed(cut, parse)]

    def _whole(self, sentences: Sequence[Read]) -> Read:
        tokens = [token for read in sentences for token in read.tokens]
        return Read(tokens, joined([read.tree for read in sentences], self.kind))


class GivenReader(Reader):
    """Trees as they are: of programs, of molecules, of anything whose nodes have names."""

    def __init__(self, kind: Kind) -> None:
        super().__init__("none", kind, split=False)

    def cut(self, texts: Sequence[str]) -> list[list[list[Token]]]:
        raise ValueError("this model was fitted on trees, not on texts; give it a Tree")

    def tree(self, item: object) -> Tree:
        """An item of a list, which has to be a tree."""
        if not isinstance(item, Tree):
            raise ValueError(f"{item!r:.40}: this model was fitted on trees; give it a Tree")
        return item

    def shaped(self, tree: Tree) -> Tree:
        return as_given(tree.replace(labels=None), self.kind)  # what is known of it already is not read


def as_given(tree: Tree, kind: Kind) -> Tree:
    """A tree that somebody brought, as a layer for trees of that kind reads it; its labels stay."""
    tokens = tree.tokens or (None,) * len(tree)
    for node in tree.leaves.tolist():
        if tokens[node] is None:
            raise ValueError(f"the leaf {node} has no token; every leaf of a tree has one")
    return tree.binarise() if kind == "constituency" else tree


def named(tree: Tree) -> tuple[str, Read]:
    """The tokens of a tree with spaces between, as if they were a text, and the tree over them."""
    words = [str(tree.tokens[node]) for node in tree.words.tolist()] if tree.tokens else []
    tokens, place = [], 0
    for word in words:
        tokens.append(Token(word, place, place + len(word)))
        place += len(word) + 1
    return " ".join(words), Read(tokens, tree)
