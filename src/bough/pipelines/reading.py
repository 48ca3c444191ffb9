"""Texts and trees as they come from people: cut into words, checked, and laid over one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, TypeVar

from bough.errors import FormatError
from bough.nn.threads import one_thread
from bough.text import Parser, get_parser
from bough.text.binarise import binarise
from bough.text.tokenise import Token, sentences, tokenise
from bough.trees.tree import Tree

Kind = Literal["constituency", "dependency"]
T = TypeVar("T")
Cut = Sequence[Sequence[Sequence[Token]]]  # of each text the sentences, of each sentence the words
Parse = Callable[[Sequence[Sequence[str]]], list[Tree]]
AT_ONCE = 256  # texts parsed and scored together
LETTERS = 400_000  # of theirs, after which no other comes in: long texts take no more memory than short ones
_WRITTEN = {"``": '"\u201c\u00ab', "''": '"\u201d\u00bb', "`": "'\u2018", "'": "'\u2019"}
_WRITTEN |= {"...": "\u2026", "--": "\u2013\u2014"}


def groups(items: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """The items in lists of at most `size` and about `LETTERS`; one text is a ValueError where several are wanted."""
    if isinstance(items, str):
        raise ValueError(f"one text, {items[:40]!r}, where several are expected; put it in a list")
    source = iter(items)
    while whole := list(
        islice(source, size)
    ):  # cut within these, so that the next ones start where they always do
        group, letters = list[T](), 0
        for item in whole:
            group.append(item)
            letters += _letters(item)
            if letters > LETTERS:
                yield group
                group, letters = [], 0
        if group:
            yield group


def _letters(item: object) -> int:
    """Of a text, of two, or of the texts of a record."""
    if isinstance(item, str):
        return len(item)
    parts = (
        map(item.get, ("text", "a", "b"))
        if isinstance(item, dict)
        else item
        if isinstance(item, tuple)
        else ()
    )
    return sum(len(part) for part in parts if isinstance(part, str))


class Read(NamedTuple):
    """One sentence of a text: its words with their places, and its tree over them."""

    tokens: Sequence[Token]
    tree: Tree

    @property
    def words(self) -> list[str]:
        """The words alone."""
        return [token.text for token in self.tokens]


class Reader:
    """From texts to trees of one kind, with a parser that is loaded when it is first needed."""

    def __init__(self, parser: str | Parser, kind: Kind, *, split: bool) -> None:
        self.kind, self.split = kind, split
        self._parser = parser

    @property
    def parser(self) -> Parser:
        """The parser itself."""
        if isinstance(self._parser, str):
            self._parser = get_parser(self._parser)
        return self._parser

    def read(self, texts: Sequence[str], first: int = 0) -> list[list[Read]]:
        """The sentences of each text; a text without a word is a ValueError that says which, counted from `first`."""
        cut = self.cut(texts)
        for place, sentence in enumerate(cut):
            if not sentence:
                which = f"text {first + place}" if first or len(texts) > 1 else "the text"
                raise ValueError(f"no word in {which}, {texts[place][:40]!r}; there is nothing to score")
        return self.parsed(cut)

    def read_any(self, texts: Sequence[str]) -> list[list[Read]]:
        """The sentences of each text; none where there is no word."""
        return self.parsed(self.cut(texts))

    @one_thread()  # a batch of sentences is small
    def parsed(self, cut: Cut, parse: Parse | None = None) -> list[list[Read]]:
        """Texts whose words are found already, read with the trees of `parse`, or of the parser."""
        flat = [[token.text for token in sentence] for text in cut for sentence in text]
        parse = parse or getattr(self.parser, self.kind)
        trees = iter(parse(flat) if flat else [])
        return [[Read(sentence, next(trees)) for sentence in text] for text in cut]

    def cut(self, texts: Sequence[str]) -> list[list[list[Token]]]:
        """The words of each text, sentence by sentence; none where there is no word."""
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"text {place} is a {type(text).__name__}, {text!r:.40}; a text is a str")
        if self.split:
            return [sentences(text) for text in texts]
        return [[tokens] if tokens else [] for tokens in map(tokenise, texts)]

    def given(self, text: str | None, tree: Tree | str) -> tuple[str, Read]:
        """A tree that somebody brought, as `Tree`, in brackets or as CoNLL-U, over the text it belongs to.

        Without a text it is the tree's words with spaces between.
        """
        shaped = self.shaped(read_tree(tree) if isinstance(tree, str) else tree)
        words = [str(shaped.tokens[node]) for node in shaped.words.tolist()] if shaped.tokens else []
        if text is None:
            text = " ".join(words)
        return text, Read(aligned(text, words), shaped)

    def shaped(self, tree: Tree) -> Tree:
        """A tree that somebody brought, checked and made what the model reads."""
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


def read_tree(text: str) -> Tree:
    """One tree in brackets, or one sentence in CoNLL-U."""
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
    """The words of a tree with their places in the text; a ValueError where they are not the text's words."""
    own = tokenise(text)
    if [token.text for token in own] == list(words):
        return own
    found: list[Token] = []
    place = 0
    for number, word in enumerate(words):
        while place < len(text) and text[place].isspace():
            place += 1
        written = _as_written(text, place, word)
        if written is None:
            there = text[place:].split()[0][:20] if text[place:].strip() else "the end"
            raise ValueError(
                f"the tree's word {number + 1} is {word!r}, the sentence has {there!r} there; "
                "the words of both must agree"
            )
        found.append(Token(word, place, place + len(written)))
        place += len(written)
    if text[place:].strip():
        raise ValueError(
            f"the tree ends after {len(words)} words, but the sentence continues with {text[place:].split()[0][:20]!r}"
        )
    return found


def _as_written(text: str, place: int, word: str) -> str | None:
    if text.startswith(word, place):
        return word
    if word in _WRITTEN and text[place : place + 1] in tuple(_WRITTEN[word]):
        return text[place]
    return None
