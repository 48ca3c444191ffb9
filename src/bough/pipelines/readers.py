"""Turn texts and users' trees into the trees that a model reads."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from bough.data.examples import TreeColumns
from bough.data.oov import mostly_unknown
from bough.errors import FormatError
from bough.formats import conllu, ptb
from bough.models.bundled import BundledModel
from bough.models.model import Model
from bough.nn.engine import one_thread
from bough.text import Parser, get_parser
from bough.text.binarise import binarise
from bough.text.join_sentences import Kind as Kind
from bough.text.join_sentences import chain_of_words, join_sentences
from bough.text.tokenise import Token, sentences, tokenise, without_addresses
from bough.trees.tree import Tree

log = logging.getLogger(__name__)
T = TypeVar("T")
Cut = Sequence[Sequence[Sequence[Token]]]  # the tokens of each sentence of each text
AT_ONCE = 256  # texts parsed and scored together
LETTERS = 400_000  # characters after which a group ends, so that long texts need no more memory
_FOREIGN = """\
%.0f%% of the words are unknown to this English model; if the text is in another language, fit a model of \
your own: bough.fit(texts, labels, trees="balanced")"""
_WRITTEN = {"``": '"\u201c\u00ab', "''": '"\u201d\u00bb', "`": "'\u2018", "'": "'\u2019"}
_WRITTEN |= {"...": "\u2026", "--": "\u2013\u2014"}


def groups(items: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """Yield lists of at most `size` items and about `LETTERS` characters.

    A new group begins after every `size` items, whatever their lengths, so that a run that resumes
    there gets the same groups. Raise a ValueError for a single text.
    """
    if isinstance(items, str):
        raise ValueError(f"one text, {items[:40]!r}, where several are expected; put it in a list")
    source = iter(items)
    while batch := list(islice(source, size)):
        group, letters = list[T](), 0
        for item in batch:
            group.append(item)
            letters += _letters(item)
            if letters > LETTERS:
                yield group
                group, letters = [], 0
        if group:
            yield group


def _letters(item: object) -> int:
    """Return the number of characters of a text, or of the texts in a tuple."""
    if isinstance(item, str):
        return len(item)
    return sum(map(_letters, item)) if isinstance(item, tuple) else 0


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
        self.tree_kind, self.split = kind, split
        self.skip_addresses = False  # leave out account names and addresses before parsing
        self._parser = parser
        # the vocabulary of an English model; None after the one warning about another language
        self.english: Mapping[str, int] | None = None

    @property
    def parser(self) -> Parser:
        """The loaded parser."""
        if isinstance(self._parser, str):
            self._parser = get_parser(self._parser)
        return self._parser

    def read(self, items: Sequence[Any], first: int = 0, *, allow_empty: bool = False) -> list[list[Read]]:
        """Return the sentences of each text. An item that is a `Tree` is the only sentence of its text.

        A text without a word raises a ValueError, which counts the texts from `first`; with
        `allow_empty` it gives an empty list.
        """
        texts = [item for item in items if not isinstance(item, Tree)]
        cut = self.cut(texts)
        for place, sentence in enumerate(cut):
            if not sentence and not allow_empty:
                which = f"text {first + place}" if first or len(items) > 1 else "the text"
                raise ValueError(f"no word in {which}, {texts[place][:40]!r}; there is nothing to score")
        if self.english is not None:
            words = [token.text for text in cut for sentence in text for token in sentence]
            if (share := mostly_unknown(words, self.english)) is not None:
                self.english = None
                log.warning(_FOREIGN, 100 * share)
        parsed = iter(self.parsed(cut) if cut else [])
        shaped = self.shaped
        return [[_as_sentence(shaped(item))] if isinstance(item, Tree) else next(parsed) for item in items]

    @one_thread()  # a batch of sentences is small
    def parsed(self, cut: Cut) -> list[list[Read]]:
        """Parse tokenised texts."""
        flat = [[token.text for token in sentence] for text in cut for sentence in text]
        trees = iter(getattr(self.parser, self.tree_kind)(flat) if flat else [])
        return [[Read(sentence, next(trees)) for sentence in text] for text in cut]

    def cut(self, texts: Sequence[str]) -> list[list[list[Token]]]:
        """Return the tokens of each text by sentence; an empty list for a text without a word."""
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"text {place} is {text!r:.40}; expected a string")
        if self.split:
            cut = [sentences(text) for text in texts]
        else:
            cut = [[tokens] if tokens else [] for tokens in map(tokenise, texts)]
        return list(map(without_addresses, cut)) if self.skip_addresses else cut

    def given(self, text: str | None, tree: Tree | str) -> tuple[str, Read]:
        """Align a tree, brackets or CoNLL-U with its text; None means the tree's words joined."""
        read = _as_sentence(self.shaped(read_tree(tree) if isinstance(tree, str) else tree))
        if text is None:
            return " ".join(read.words), read
        return text, Read(aligned(text, read.words), read.tree)

    def shaped(self, tree: Tree) -> Tree:
        """Check a user's tree and return it in the form that the model reads."""
        tokens = tree.tokens or (None,) * len(tree)
        arcs = len(tree) > 1 and all(token is not None for token in tokens)
        if self.tree_kind == "dependency":
            if not arcs and len(tree) > 1:
                raise ValueError("a tree of phrases, but the model reads dependency trees, such as CoNLL-U")
            if tokens[0] is None:
                raise ValueError("the tree has no word; there is nothing to score")
            return tree.replace(labels=None)
        if arcs:
            raise ValueError("a dependency tree, but the model reads trees of phrases, such as brackets")
        for node in tree.leaves.tolist():
            if tokens[node] is None:
                raise ValueError(f"leaf {node} has no word; every leaf of a tree of phrases needs one")
        return binarise(tree).replace(labels=None)


class WholeReader(Reader):
    """Make one tree per text: join the trees of its sentences, or make a `chain` of its words."""

    def __init__(self, parser: str | Parser, kind: Kind, *, chain: bool = False) -> None:
        super().__init__(parser, kind, split=True)
        self.chain = chain

    def parsed(self, cut: Cut) -> list[list[Read]]:
        parts = [] if self.chain else super().parsed(cut)
        reads: list[list[Read]] = []
        for place, text in enumerate(cut):
            tokens = [token for sentence in text for token in sentence]
            if self.chain and tokens:
                reads.append([Read(tokens, chain_of_words([token.text for token in tokens]))])
            elif tokens:
                reads.append(
                    [Read(tokens, join_sentences([read.tree for read in parts[place]], self.tree_kind))]
                )
            else:
                reads.append([])
        return reads


class GivenReader(Reader):
    """Read trees instead of texts, whose nodes have names, categories or numbers.

    `columns` are the keys of nested objects in the training file.
    """

    def __init__(self, kind: Kind) -> None:
        super().__init__("none", kind, split=False)
        self.columns = TreeColumns("tree")

    def read(self, items: Sequence[Any], first: int = 0, *, allow_empty: bool = False) -> list[list[Read]]:
        trees = [self._tree(item, place) for place, item in enumerate(items, first)]
        return super().read(trees, first, allow_empty=allow_empty)

    def cut(self, texts: Sequence[str]) -> list[list[list[Token]]]:
        return [[] for _ in texts]  # an item that is not a tree is blank

    def _tree(self, item: Any, place: int) -> Any:
        """Return the tree of an object, JSON, brackets or CoNLL-U; a tree or a blank unchanged."""
        if isinstance(item, Tree) or item == "":
            return item
        if isinstance(item, Mapping) or str(item).lstrip().startswith("{"):
            return self.columns.tree(item, f"tree {place}", 1)
        if isinstance(item, str) and (item.lstrip().startswith("(") or "\t" in item):
            return read_tree(item)
        wanted = "fitted on trees; give it a Tree, brackets, CoNLL-U or nested JSON"
        raise ValueError(f"{item!r:.40}: this model was {wanted}")

    def shaped(self, tree: Tree) -> Tree:
        return as_given(tree.replace(labels=None), self.tree_kind)  # the model must not see the true labels


def reader_for(model: Model, parser: str | Parser) -> Reader:
    """Return the reader for the kind of trees that the model was trained on."""
    if model.config.shape == "balanced":
        raise ValueError("shape = 'balanced' is an experiment without parses: it has no phrases to show")
    reads, trees = model.config.kind.reads, model.trees
    usual: Kind = "dependency" if model.output.pairs else "constituency"
    kind: Kind = usual if reads == "words" else reads
    if trees == "given":
        return GivenReader(kind)
    reader = Reader(parser, kind, split=trees in ("sentences", "joined"))
    if trees in ("whole", "chain", "balanced"):
        reader = WholeReader("balanced" if trees == "balanced" else parser, kind, chain=trees == "chain")
    reader.skip_addresses = model.config.oov == "written"
    if isinstance(model, BundledModel):
        reader.english = model.index
    return reader


def as_given(tree: Tree, kind: Kind) -> Tree:
    """Return a user's tree in the form that a layer for this kind reads, with its labels."""
    tokens = tree.tokens or (None,) * len(tree)
    columns = (tree.categories, tree.features, tree.edge_features)
    for node in tree.leaves.tolist() if all(column is None for column in columns) else ():
        if tokens[node] is None:
            raise ValueError(f"leaf {node} has no token; without categories and numbers it needs one")
    return tree.binarise() if kind == "constituency" else tree


def _as_sentence(tree: Tree) -> Read:
    """Return a tree with its words; their offsets are those in the words joined by spaces.

    A leaf without a token becomes a dot. A token may contain spaces, so the joined words are not tokenised again.
    """
    names = tree.tokens or (None,) * len(tree)
    tokens, start = list[Token](), 0
    for node in tree.words.tolist():
        word = names[node] or "\u00b7"
        tokens.append(Token(word, start, start + len(word)))
        start += len(word) + 1
    return Read(tokens, tree)


def read_tree(text: str) -> Tree:
    """Read one tree in brackets, or one sentence in CoNLL-U."""
    if text.lstrip().startswith("("):
        trees = ptb.read(text.split("\n"))
        if len(trees) > 1:
            raise FormatError(f"{len(trees)} trees; give one tree for one sentence")
        return trees[0]
    if "\t" in text:
        return conllu.parse(text)
    raise FormatError(f"{text[:40]!r} is not a tree; give brackets, (S (NP ...)), or CoNLL-U with its tabs")


def aligned(text: str, words: Sequence[str]) -> list[Token]:
    """Return the words of a tree with their offsets in the text. Raise a ValueError if they differ."""
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
            difference = f"word {number + 1} of the tree is {word!r}, but the sentence has {there!r}"
            raise ValueError(f"{difference}; the words of both must agree")
        found.append(Token(word, place, end))
        place = end
    if rest := text[place:].split():
        more = f"the sentence continues with {rest[0][:20]!r}"
        raise ValueError(f"the tree ends after {len(words)} words, but {more}")
    return found
