"""Evaluate a parser: bracket F1, UAS, LAS and speed; keep the sentences on which two agree."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bough.files import write_text
from bough.formats import conllu
from bough.text import Parser
from bough.text.tokenise import sentences, tokenise
from bough.train.parser.examples import Example, spans_of
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

SHORTEST, LONGEST = 4, 40  # words of a sentence of silver data
AT_ONCE = 512  # sentences parsed together
Progress = Callable[[str, int, int], None]  # what is parsed, sentences done, sentences in all


@dataclass(frozen=True)
class Scores:
    """Micro-averaged scores in percent; None for a score without gold trees.

    `brackets` is the F1 of unlabelled spans of two or more words; both trees are binary, so that
    precision, recall and F1 are equal. `inner_brackets` leaves out the span of the whole sentence,
    which is always right. `heads` (UAS) and `relations` (LAS) count every token; `heads_of_words`
    leaves out punctuation marks.
    """

    sentences: int
    brackets: float | None
    inner_brackets: float | None
    heads: float | None
    heads_of_words: float | None
    relations: float | None


def count_correct(parser: Parser, examples: Sequence[Example]) -> NDArray[np.float64]:
    """Return (n, 10) counts per sentence: the total and the correct number of spans, of spans without the whole
    sentence's, of heads, of heads of words other than punctuation, and of relations."""
    counts = np.zeros((len(examples), 10))
    bracketed = [(row, one) for row, one in zip(counts, examples, strict=True) if one.spans]
    headed = [(row, one) for row, one in zip(counts, examples, strict=True) if one.heads]
    phrases = parser.constituency([example.tokens for _, example in bracketed]) if bracketed else []
    arcs = parser.dependency([example.tokens for _, example in headed]) if headed else []
    for (row, example), phrase in zip(bracketed, phrases, strict=True):
        spans = example.spans
        right = len({*spans} & {*spans_of(phrase)})
        row[:4] = len(spans), right, len(spans) - 1, right - 1
    for (row, example), arc in zip(headed, arcs, strict=True):
        right_heads = arc.parents + 1 == example.heads
        words = np.array([token not in _PUNCTUATION for token in example.tokens])
        row[4:8] = len(words), right_heads.sum(), words.sum(), (words & right_heads).sum()
        if example.relations is not None:
            same = [one == other for one, other in zip(example.relations, arc.relations or "", strict=False)]
            row[8:] = len(words), right_heads[same].sum() if same else 0
    return counts


def scores_of(counts: NDArray[np.float64]) -> Scores:
    """Return the scores of the counts that `count_correct` returns."""
    pairs = counts.sum(axis=0).reshape(5, 2).tolist()
    return Scores(len(counts), *(round(100 * right / total, 2) if total else None for total, right in pairs))


def score(parser: Parser, examples: Sequence[Example]) -> Scores:
    """Return the scores of a parser on examples."""
    return scores_of(count_correct(parser, examples))


def speed(parse: Callable[[list[list[str]]], list[Tree]], examples: Sequence[Example]) -> float:
    """Return the sentences per second of processor time, from text to trees."""
    texts = [" ".join(example.tokens) for example in examples]
    parse([[token.text for token in tokenise(text)] for text in texts[:50]])  # warm up
    start = time.process_time()
    parse([[token.text for token in tokenise(text)] for text in texts])
    return len(texts) / (time.process_time() - start)


def shown(value: float | None) -> str:
    """Return a score as text for a table."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def write_silver(
    texts: Sequence[str], ours: Parser, theirs: Parser, out: Path, *, callback: Progress | None = None
) -> tuple[int, int]:
    """Parse the distinct sentences of texts with two parsers and write those with the same heads, as CoNLL-U.

    The relations are those of `ours`. Return the number of sentences written and of those parsed.
    Raise a ValueError if there is none to write.
    """
    cut = (tuple(token.text for token in sentence) for text in texts for sentence in sentences(text))
    found = list(dict.fromkeys(tokens for tokens in cut if SHORTEST <= len(tokens) <= LONGEST))
    kept: list[str] = []
    for start in range(0, len(found), AT_ONCE):
        batch = found[start : start + AT_ONCE]
        pairs = zip(ours.dependency(batch), theirs.dependency(batch), strict=True)
        kept += [conllu.write(one) for one, other in pairs if one.parents.tolist() == other.parents.tolist()]
        if callback is not None:
            callback("silver", min(start + AT_ONCE, len(found)), len(found))
    if not kept:
        raise ValueError(f"no sentence of {SHORTEST} to {LONGEST} words whose heads the parsers agree on")
    write_text(out, "".join(kept))
    return len(kept), len(found)
