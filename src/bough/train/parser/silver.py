"""Write silver data: sentences with the arcs on which two parsers agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bough.files import write_text
from bough.text import Parser
from bough.text.tokenise import sentences
from bough.trees.tree import Tree

SHORTEST, LONGEST = 4, 40  # words of a sentence that is kept
AT_ONCE = 512  # sentences parsed together
Tell = Callable[[str, int, int], None]  # what is parsed, sentences done, sentences in all


def write_silver(
    texts: Sequence[str], ours: Parser, theirs: Parser, out: Path, *, tell: Tell | None = None
) -> tuple[int, float]:
    """Parse texts with two parsers and write a line of JSON for each distinct sentence.

    The heads are those of `ours`, null where `theirs` differs. A sentence without a common arc is left out.
    Return the number of sentences written and the share of arcs on which the parsers agree.
    """
    found = list(_distinct(texts))
    lines: list[str] = []
    words = agreed = 0
    for start in range(0, len(found), AT_ONCE):
        batch = found[start : start + AT_ONCE]
        for tokens, one, other in zip(batch, ours.dependency(batch), theirs.dependency(batch), strict=True):
            heads = _agreed(one, other)
            known = sum(head is not None for head in heads)
            words, agreed = words + len(tokens), agreed + known
            if known:
                relations = [
                    name if head is not None else None
                    for name, head in zip(one.relations or (), heads, strict=True)
                ]
                lines.append(
                    json.dumps({"tokens": tokens, "heads": heads, "relations": relations}, ensure_ascii=False)
                )
        if tell is not None:
            tell("silver", min(start + AT_ONCE, len(found)), len(found))
    if not lines:
        raise ValueError(
            f"no sentence of {SHORTEST} to {LONGEST} words with an arc on which the parsers agree"
        )
    write_text(out, "".join(f"{line}\n" for line in lines))
    return len(lines), agreed / words


def _distinct(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    cut = (tuple(token.text for token in sentence) for text in texts for sentence in sentences(text))
    return iter(dict.fromkeys(tokens for tokens in cut if SHORTEST <= len(tokens) <= LONGEST))


def _agreed(one: Tree, other: Tree) -> list[int | None]:
    pairs = zip(one.parents.tolist(), other.parents.tolist(), strict=True)
    return [mine + 1 if mine == yours else None for mine, yours in pairs]
