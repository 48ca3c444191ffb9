"""How good a parser is: brackets, heads, relations, and sentences per second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from bough.parsing.builtin.parser import BuiltinParser
from bough.parsing.builtin.training.treebanks import Example, gum_unseen, sick_unseen, spans_of, sst
from bough.parsing.tokenise import tokenise
from bough.trees.tree import Tree

FIGURES = {
    "sentences": "sentences",
    "brackets": "bracket F1 (spans of 2 words and more)",
    "inner_brackets": "bracket F1 without the whole sentence's span",
    "heads": "UAS",
    "heads_of_words": "UAS without punctuation",
    "relations": "LAS",
}
_PUNCTUATION = frozenset([".", ",", ":", ";", "!", "?", "``", "''", "`", "'", "--", "-", "...", "(", ")"])


class ParsesBoth(Protocol):
    """What is measured: a parser that gives both trees of a sentence."""

    def both(self, sentences: Sequence[Sequence[str]]) -> list[tuple[Tree, Tree]]:
        """Phrase tree and dependency tree of each sentence."""


@dataclass(frozen=True)
class Scores:
    """Scores in percent over all sentences together (micro-averaged).

    `brackets` is F1 of the unlabelled spans of two words and more, the whole sentence's among them; both
    trees are binary, so precision, recall and F1 are one number. `inner_brackets` is the same without
    the whole sentence's span, which no parser can miss. `heads` (UAS) and `relations` (LAS, head and
    relation right) count every token; `heads_of_words` leaves out punctuation marks. `relations` is None where the
    sentences have no relations.
    """

    sentences: int
    brackets: float
    inner_brackets: float
    heads: float
    heads_of_words: float
    relations: float | None


@dataclass(frozen=True)
class Report:
    """Scores on sentences not seen in training, of SST, SICK, and GUM if some was held out; the speed on one core."""

    split: str
    sst: Scores
    sick_unseen: Scores
    gum_unseen: Scores | None
    sentences_a_second: float

    @property
    def columns(self) -> dict[str, Scores]:
        """The scores by what they were measured on."""
        found = {f"SST {self.split}": self.sst, f"SICK {self.split}, unseen in training": self.sick_unseen}
        return found | ({f"GUM, held out for {self.split}": self.gum_unseen} if self.gum_unseen else {})

    def as_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return asdict(self)


def evaluate(
    parser: BuiltinParser | Path | str,
    data: Path | str | None = None,
    split: str = "test",
    *,
    check: bool = True,
) -> Report:
    """Measure a parser, or the one in a folder, on a split of SST and on the unseen sentences of SICK's and GUM's.

    The speed is that of text to both trees, tokenising included, on SST's sentences. Without `check` the data
    may be others than SST and SICK, in their layout.
    """
    model = parser if isinstance(parser, BuiltinParser) else BuiltinParser.load(parser)
    examples = sst(data, split, check=check)
    held_out = gum_unseen(data, split) if "gum" in model.held_out else []
    return Report(
        split=split,
        sst=score(model, examples),
        sick_unseen=score(model, sick_unseen(data, split, check=check)),
        gum_unseen=score(model, held_out) if held_out else None,
        sentences_a_second=round(speed(model, examples), 1),
    )


def score(parser: ParsesBoth, examples: Sequence[Example]) -> Scores:
    """Compare a parser's trees with the examples'."""
    named = any(example.relations is not None for example in examples)
    found = parser.both([example.tokens for example in examples])
    spans = right_spans = wholes = heads = words = right_heads = right_words = right_relations = 0
    for example, (phrase, arc) in zip(examples, found, strict=True):
        given, predicted = set(example.spans), set(spans_of(phrase))
        spans += len(given)
        right_spans += len(given & predicted)
        wholes += len(example.tokens) > 1
        relations = arc.relations or ()
        for place, token in enumerate(example.tokens):
            right = int(arc.parents[place]) + 1 == example.heads[place]
            heads += 1
            right_heads += right
            right_relations += (
                right and example.relations is not None and relations[place] == example.relations[place]
            )
            if token not in _PUNCTUATION:
                words += 1
                right_words += right
    return Scores(
        sentences=len(examples),
        brackets=_percent(right_spans, spans),
        inner_brackets=_percent(right_spans - wholes, spans - wholes),
        heads=_percent(right_heads, heads),
        heads_of_words=_percent(right_words, words),
        relations=_percent(right_relations, heads) if named else None,
    )


def speed(parser: ParsesBoth, examples: Sequence[Example]) -> float:
    """Sentences from text (tokens with spaces between) to both trees in a second of one core.

    Processor time is counted, of all threads: what else the machine does at the moment is not the parser's.
    """
    texts = [" ".join(example.tokens) for example in examples]
    parser.both([[token.text for token in tokenise(text)] for text in texts[:50]])  # warm up
    start = time.process_time()
    parser.both([[token.text for token in tokenise(text)] for text in texts])
    return len(texts) / (time.process_time() - start)


def shown(value: float | None) -> str:
    """A figure as tables show it."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 100.0
