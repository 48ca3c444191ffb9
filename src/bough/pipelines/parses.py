"""Turn texts into trees of phrases and of dependencies, to look at or to write to a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, NoReturn, overload

from bough.draw import tree_svg
from bough.formats import conllu, ptb
from bough.nn.engine import one_thread
from bough.pipelines.prediction import to_json
from bough.pipelines.readers import AT_ONCE, groups
from bough.text import Parser, get_parser
from bough.text.tokenise import Token, sentences
from bough.trees.tree import Tree

BOTH = ("constituency", "dependency")
FULL_STOPS = (".", "!", "?", "...", "\u2026")


class ParsedSentence(NamedTuple):
    """A sentence: its tokens with their offsets in the text, its tree of phrases and its tree of dependencies.

    A tree is None if the parser does not make trees of its kind.

    Examples:
        >>> import bough
        >>> sentence = bough.load("parser")("Cats climb trees.").sentences[0]
        >>> sentence.phrases, sentence.dependencies
        (Tree((· (· Cats (· climb trees)) .), 7 nodes), Tree((climb Cats trees .), 4 nodes))
    """

    tokens: Sequence[Token]
    phrases: Tree | None
    dependencies: Tree | None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The half-open range of tokens that each node of `phrases` covers."""
        if self.phrases is None:
            return []
        leaves = [int(not below) for below in self.phrases.children]
        starts = list(
            accumulate(leaves, initial=0)
        )  # in preorder, the leaves before a node are those left of it
        for node in range(len(leaves) - 1, 0, -1):
            leaves[int(self.phrases.parents[node])] += leaves[node]
        return [(start, start + count) for start, count in zip(starts, leaves, strict=False)]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as in `Parse.as_dict`."""
        tokens = [{"text": token.text, "start": token.start, "end": token.end} for token in self.tokens]
        shown: dict[str, Any] = {"tokens": tokens}
        if self.dependencies is not None:
            shown["heads"] = self.dependencies.parents.tolist()
            shown["relations"] = list(self.dependencies.relations or ())
        if self.phrases is not None:
            pairs = zip(self.spans, self.phrases.children, strict=True)
            shown["phrases"] = [{"span": span, "children": children} for span, children in pairs]
        return shown


@dataclass(frozen=True)
class Parse:
    """The sentences of a text with their trees.

    Examples:
        >>> import bough
        >>> parse = bough.load("parser")("Cats climb trees. Dogs sleep.")
        >>> print(parse.ptb())
        ( ( Cats ( climb trees)) .)
        ( ( Dogs sleep) .)
        >>> parse.sentences[0].dependencies.relations
        ('nsubj', 'root', 'dobj', 'punct')
    """

    text: str
    sentences: Sequence[ParsedSentence]

    def ptb(self) -> str:
        """Return the trees of phrases in brackets, one sentence per line."""
        trees = [sentence.phrases for sentence in self.sentences]
        return "\n".join(ptb.write(_present(tree, "phrases")) for tree in trees)

    def conllu(self) -> str:
        """Return the trees of dependencies as CoNLL-U, with the text of each sentence as a comment."""
        blocks = []
        for tokens, _, tree in self.sentences:
            text = " ".join(self.text[tokens[0].start : tokens[-1].end].split())
            blocks.append(f"# text = {text}\n{conllu.write(_present(tree, 'dependencies'))}")
        return "".join(blocks)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        A sentence has `tokens` with their range of characters and, if there is a tree of their kind,
        `heads` (the index of each token's head, -1 for the root) with `relations`, and `phrases` in
        preorder, each with its range of tokens and the indices of its children.
        """
        return {"text": self.text, "sentences": [sentence.as_dict() for sentence in self.sentences]}

    def json(self) -> str:
        """Return `as_dict` as one line of JSON."""
        return to_json(self.as_dict())

    def svg(self) -> str:
        """Draw the trees of each sentence, one below the other. Raise a ValueError if they are too many to draw."""
        trees = [tree for sentence in self.sentences for tree in sentence[1:] if tree is not None]
        picture = tree_svg.svg(trees, f"{self.text[:200]}: trees")
        if picture is None:
            raise ValueError(f"no picture: there is no tree, or it has more than {tree_svg.MOST} nodes")
        return picture

    def _repr_svg_(self) -> str | None:
        return self.svg() if self.sentences else None


class ParserPipeline:
    """Split texts into sentences and parse these.

    A full stop at the end of a sentence is a child of the root of its tree of phrases, as in
    treebanks. The models of sentiment and your own models read the parser's own tree, which
    may have it beside the verb.

    Args:
        parser: a name that `bough.text.get_parser` knows, or a parser.
        batch_size: the number of texts that are parsed together.

    Examples:
        >>> import bough
        >>> parse = bough.load("parser")
        >>> [len(parse(text).sentences) for text in ("Cats climb.", "Cats climb. Dogs sleep.")]
        [1, 2]
    """

    def __init__(self, parser: str | Parser = "builtin", batch_size: int = AT_ONCE) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size}: at least 1")
        self.parser = get_parser(parser) if isinstance(parser, str) else parser
        self.batch_size = batch_size

    @property
    def model(self) -> NoReturn:
        """Raise a ValueError: a parser has no model of texts."""
        raise ValueError("a parser predicts nothing; `bough parse` shows its trees")

    @overload
    def __call__(self, text: str) -> Parse: ...
    @overload
    def __call__(self, text: list[str] | tuple[str, ...]) -> list[Parse]: ...

    def __call__(self, text: str | list[str] | tuple[str, ...]) -> Parse | list[Parse]:
        """Return the parse of one text, or of each text of a list."""
        if isinstance(text, str):
            return next(self.stream([text]))
        return list(self.stream(text))

    def stream(self, texts: Iterable[str]) -> Iterator[Parse]:
        """Yield the parse of each text, in order, a batch at a time. A text without a word has no sentences."""
        first = 0
        for group in groups(texts, self.batch_size):
            for place, text in enumerate(group, first):
                if not isinstance(text, str):
                    raise ValueError(f"text {place} is {text!r:.40}; expected a string")
            yield from self._parsed(group)
            first += len(group)

    @one_thread()  # a batch of sentences is small
    def _parsed(self, texts: Sequence[str]) -> list[Parse]:
        cut = [sentences(text) for text in texts]
        flat = [sentence for text in cut for sentence in text]
        words = [[token.text for token in sentence] for sentence in flat]
        trees: dict[str, Sequence[Tree | None]] = {kind: [None] * len(words) for kind in BOTH}
        for kind in getattr(self.parser, "trees", BOTH) if words else ():
            trees[kind] = getattr(self.parser, kind)(words)
        parsed = (
            ParsedSentence(tokens, phrases and with_full_stop_on_top(phrases), dependencies)
            for tokens, phrases, dependencies in zip(flat, *trees.values(), strict=True)
        )
        return [Parse(text, [next(parsed) for _ in own]) for text, own in zip(texts, cut, strict=True)]


def with_full_stop_on_top(tree: Tree) -> Tree:
    """Return a tree of phrases whose last word, if it is a full stop, is a child of the root."""
    stop = int(tree.words[-1])
    above, parents = int(tree.parents[stop]), tree.parents.tolist()
    if above in (-1, tree.root) or (tree.tokens or ())[stop] not in FULL_STOPS:
        return tree
    # the phrase above the full stop becomes the root, and its other children take its place
    for child in tree.children[above]:
        if child != stop:
            parents[child] = parents[above]
    parents[tree.root], parents[above] = above, -1
    raised = Tree(parents, tokens=tree.tokens, labels=tree.labels)
    return raised.renumbered(raised.preorder)


def _present(tree: Tree | None, what: str) -> Tree:
    if tree is None:
        raise ValueError(f"this parser finds no {what}; choose another, such as 'builtin'")
    return tree
