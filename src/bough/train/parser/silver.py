"""Write silver data: the sentences to which two parsers give the same dependency tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bough.files import write_text
from bough.formats import conllu
from bough.text import Parser
from bough.text.tokenise import sentences

SHORTEST, LONGEST = 4, 40  # words of a sentence that is kept
AT_ONCE = 512  # sentences parsed together
Progress = Callable[[str, int, int], None]  # what is parsed, sentences done, sentences in all


def write_silver(
    texts: Sequence[str], ours: Parser, theirs: Parser, out: Path, *, callback: Progress | None = None
) -> tuple[int, int]:
    """Parse the distinct sentences of texts with two parsers and write those with the same heads, as CoNLL-U.

    The relations are those of `ours`. Return the number of sentences written and of those parsed. Raise a ValueError
    if there is none to write.
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
