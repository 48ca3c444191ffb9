"""Turn texts, and trees that a user brings, into the trees that a model reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, TypeVar

from bough.errors import FormatError
from bough.models.model import Model
from bough.nn.engine import one_thread
from bough.text import Parser, get_parser
from bough.text.binarise import binarise
from bough.text.join_sentences import chain_of_words, join_sentences
from bough.text.tokenise import Token, sentences, tokenise
from bough.trees.tree import Tree

Kind = Literal["constituency", "dependency"]
T = TypeVar("T")
Cut = Sequence[Sequence[Sequence[Token]]]  # the tokens of each sentence of each text
Parse = Callable[[Sequence[Sequence[str]]], list[Tree]]
AT_ONCE = 256  # texts parsed and scored together
LETTERS = (
    400_000  # characters after which a group ends, so that long texts need no more memory than short ones
)
_WRITTEN = {"``": '"\u201c\u00ab', "''": '"\u201d\u00bb', "`": "'\u2018", "'": "'\u2019"}
_WRITTEN |= {"...": "\u2026", "--": "\u2013\u2014"}


def groups(items: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """Yield lists of at most `size` items and about `LETTERS` characters.

    Every `size` items a new group begins, whatever the lengths: a run that resumes there gets the same groups.
    Raise a ValueError for a single text.
    """
    if isinstance(items, str):
        raise ValueError(f"one text, {items[:40]!r}, where several are expected; put it in a list")
    source = iter(items)
    while batch := list(islice(source, size)):
        group, letters = list[T](), 0
        for item in batch:
            group.append(item)
            if isinstance(item, dict):
                texts = [item.get(key) for key in ("text", "a", "b")]
            else:
                texts = list(item) if isinstance(item, tuple) else [item]
            letters += sum(len(text) for text in texts if isinstance(text, str))
            if letters > LETTERS:
                yield group
                group, letters = [], 0
        if group:
            yield group


class Read(NamedTuple):
    """One sentence of a text: its tokens with their offsets, and the tree over them."""

    tokens: Sequence[Token]
    tree: Tree

    @property
    def words(self) -> list[str]:
        """The forms of the tokens."""
        return [token.text for token in self.tokens]


class Reader:
    """Parse texts into trees of one kind. A parser given by name is loaded when it is first needed."""

    def __init__(self, parser: str | Parser, kind: Kind, *, split: bool) -> None:
        self.kind, self.split = kind, split
        self._parser = parser

    @property
    def parser(self) -> Parser:
        """The loaded parser."""
        if isinstance(self._parser, str):
            self._parser = get_parser(self._parser)
        return self._parser

    def read(self, texts: Sequence[str], first: int = 0) -> list[list[Read]]:
        """Return the sentences of each text. Raise a ValueError for a text without a word; `first` is its offset."""
        cut = self.cut(texts)
        for place, sentence in enumerate(cut):
            if not sentence:
                which = f"text {first + place}" if first or len(texts) > 1 else "the text"
                raise ValueError(f"no word in {which}, {texts[place][:40]!r}; there is nothing to score")
        return self.parsed(cut)

    def read_any(self, texts: Sequence[str]) -> list[list[Read]]:
        """Return the sentences of each text; an empty list for a text without a word."""
        return self.parsed(self.cut(texts))

    @one_thread()  # a batch of sentences is small
    def parsed(self, cut: Cut, parse: Parse | None = None) -> list[list[Read]]:
        """Parse tokenised texts with `parse`, by default with the reader's parser."""
        flat = [[token.text for token in sentence] for text in cut for sentence in text]
        parse = parse or getattr(self.parser, self.kind)
        trees = iter(parse(flat) if flat else [])
        return [[Read(sentence, next(trees)) for sentence in text] for text in cut]

    def cut(self, texts: Sequence[str]) -> list[list[list[Token]]]:
        """Return the tokens of each text, sentence by sentence; an empty list for a text without a word."""
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"text {place} is {text!r:.40}; expected a string")
        if self.split:
            return [sentences(text) for text in texts]
        return [[tokens] if tokens else [] for tokens in map(tokenise, texts)]

    def given(self, text: str | None, tree: Tree | str) -> tuple[str, Read]:
        """Align a user's tree, a `Tree`, brackets or CoNLL-U, with its text; by default the tree's words joined."""
        shaped = self.shaped(read_tree(tree) if isinstance(tree, str) else tree)
        words = _words(shaped)
        text = " ".join(words) if text is None else text
        return text, Read(aligned(text, words), shaped)

    def shaped(self, tree: Tree) -> Tree:
        """Check a user's tree and return it in the shape that the model reads."""
        tokens = tree.tokens or (None,) * len(tree)
        arcs = len(tree) > 1 and all(token is not None for token in tokens)
        if self.kind == "dependency":
            if not arcs and len(tree) > 1:
                raise ValueError("a tree of phrases; this model reads dependency trees, as CoNLL-U has them")
            if tokens[0] is None:
                raise ValueError("a tree without a word; there is nothing to score")
            return tree.replace(labels=None)
        if arcs:
            raise ValueError("a dependency tree; this model reads trees of phrases, as brackets have them")
        for node in tree.leaves.tolist():
            if tokens[node] is None:
                raise ValueError(f"the leaf {node} has no word; every leaf of a tree of phrases has one")
        return binarise(tree).replace(labels=None)


class WholeReader(Reader):
    """Make one tree of each text: the trees of its sentences joined, or with `chain` its words in a row, unparsed."""

    def __init__(self, parser: str | Parser, kind: Kind, *, chain: bool = False) -> None:
        super().__init__(parser, kind, split=True)
        self.chain = chain

    def parsed(self, cut: Cut, parse: Parse | None = None) -> list[list[Read]]:
        reads: list[list[Read]] = []
        if self.chain:
            for text in cut:
                tokens = [token for sentence in text for token in sentence]
                reads.append(
                    [Read(tokens, chain_of_words([token.text for token in tokens]))] if tokens else []
                )
            return reads
        for parts in super().parsed(cut, parse):
            tokens = [token for read in parts for token in read.tokens]
            reads.append(
                [Read(tokens, join_sentences([read.tree for read in parts], self.kind))] if parts else []
            )
        return reads


class GivenReader(Reader):
    """Take trees instead of texts: of programs, of molecules, of anything whose nodes have names."""

    def __init__(self, kind: Kind) -> None:
        super().__init__("none", kind, split=False)

    def cut(self, texts: Sequence[str]) -> list[list[list[Token]]]:
        raise ValueError("this model was fitted on trees, not on texts; give it a Tree")

    def tree(self, item: object) -> Tree:
        """Return the item if it is a tree; raise a ValueError otherwise."""
        if not isinstance(item, Tree):
            raise ValueError(f"{item!r:.40}: this model was fitted on trees; give it a Tree")
        return item

    def shaped(self, tree: Tree) -> Tree:
        return as_given(tree.replace(labels=None), self.kind)  # the model must not see the true labels


def reader_for(model: Model, parser: str | Parser) -> Reader:
    """Return the reader that makes the kind of trees the model was trained on."""
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


def as_given(tree: Tree, kind: Kind) -> Tree:
    """Return a user's tree as a layer for trees of that kind reads it, with its labels."""
    tokens = tree.tokens or (None,) * len(tree)
    for node in tree.leaves.tolist():
        if tokens[node] is None:
            raise ValueError(f"the leaf {node} has no token; every leaf of a tree has one")
    return tree.binarise() if kind == "constituency" else tree


def tree_as_text(tree: Tree) -> tuple[str, Read]:
    """Return the tokens of a tree joined by spaces, as a text, and the tree over them.

    A token may contain spaces, so this does not tokenise the text again.
    """
    tokens, start = [], 0
    for word in _words(tree):
        tokens.append(Token(word, start, start + len(word)))
        start += len(word) + 1
    return " ".join(token.text for token in tokens), Read(tokens, tree)


def _words(tree: Tree) -> list[str]:
    return [str(tree.tokens[node]) for node in tree.words.tolist()] if tree.tokens else []


def read_tree(text: str) -> Tree:
    """Read one tree in brackets, or one sentence in CoNLL-U."""
    from bough.formats import conllu, ptb

    if text.lstrip().startswith("("):
        trees = ptb.read(text.split("\n"))
        if len(trees) > 1:
            raise FormatError(f"{len(trees)} trees; a text of one sentence has one")
        return trees[0]
    if "\t" in text:
        return conllu.parse(text)
    raise FormatError(
        f"{text[:40]!r} is not a tree; give brackets, (S (NP ...) ...), or CoNLL-U with its tabs"
    )


def aligned(text: str, words: Sequence[str]) -> list[Token]:
    """Return the words of a tree with their offsets in the text; raise a ValueError where the two disagree."""
    own = tokenise(text)
    if [token.text for token in own] == list(words):
        return own
    found: list[Token] = []
    place = 0
    for number, word in enumerate(words):
        while place < len(text) and text[place].isspace():
            place += 1
        if text.startswith(word, place):
            end = place + len(word)
        elif text[place : place + 1] in tuple(_WRITTEN.get(word, "")):
            end = place + 1
        else:
            there = text[place:].split()[0][:20] if text[place:].strip() else "the end"
            raise ValueError(
                f"the tree's word {number + 1} is {word!r}, the sentence has {there!r} there; "
                "the words of both must agree"
            )
        found.append(Token(word, place, end))
        place = end
    if rest := text[place:].split():
        raise ValueError(
            f"the tree ends after {len(words)} words, but the sentence continues with {rest[0][:20]!r}"
        )
    return found
